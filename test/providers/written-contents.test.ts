import { expect, test } from '@jest/globals';
import type { Content } from '../../src/protocol/content.js';
import { WrittenContents } from '../../src/providers/gemini/written-contents.js';

const said = (text: string): Content => ({ role: 'user', parts: [{ text }] });
const bytesOf = (pieces: readonly Buffer[]) => Buffer.concat(pieces).toString('utf8');
const jsonOf = (contents: readonly Content[]) => JSON.stringify(contents).slice(1, -1);

test('a conversation that grows is written as the list that it is', () => {
  const written = new WrittenContents();
  const contents: Content[] = [];
  expect(bytesOf(written.pieces(contents))).toBe('');
  for (const size of [10, 30_000, 5000, 9000, 16_000, 15_000, 20, 100_000, 16_383, 60_000, 1]) {
    contents.push(said('ä'.repeat(size)), said(`${size} €`));
    expect(bytesOf(written.pieces(contents))).toBe(jsonOf(contents));
  }
});

test('small contents share few pieces, and what was handed out before does not change', () => {
  const written = new WrittenContents();
  const contents = Array.from({ length: 500 }, (_, i) => said(`turn ${i} ${'x'.repeat(200)}`));
  const first = written.pieces(contents.slice(0, 300));
  const before = bytesOf(first);
  const all = written.pieces(contents);
  expect(all.length).toBeLessThan(4);
  expect(bytesOf(all)).toBe(jsonOf(contents));
  expect(bytesOf(first)).toBe(before);
  expect(before).toBe(jsonOf(contents.slice(0, 300)));
});

test('a conversation that begins otherwise, or is shorter, is written again', () => {
  const written = new WrittenContents();
  const contents = [said('a'), said('b'), said('c')];
  written.pieces(contents);
  const compressed = [said('notes'), ...contents.slice(2)];
  expect(bytesOf(written.pieces(compressed))).toBe(jsonOf(compressed));
  expect(bytesOf(written.pieces(contents.slice(0, 2)))).toBe(jsonOf(contents.slice(0, 2)));
});
