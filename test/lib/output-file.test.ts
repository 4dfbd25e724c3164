import { existsSync, readFileSync, statSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import { OutputFile } from '../../src/lib/output-file.js';
import { OutputRoom } from '../../src/lib/output-room.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();
const CAP = 1000;

/** Feeds bytes in chunks of one size. */
function collect(data: string | Buffer, chunkSize: number, cap = CAP) {
  const path = ws.path('outputs/call.txt');
  const output = new OutputFile(path, 'shown/call.txt', cap);
  const bytes = Buffer.from(data);
  for (let at = 0; at < bytes.length; at += chunkSize) output.write(bytes.subarray(at, at + chunkSize));
  return { ...output.finish(), stored: existsSync(path) ? readFileSync(path) : undefined };
}

/** Head, number of units said to be cut, tail. */
function parts(text: string): { head: string; cut: number; unit: string; tail: string } {
  const match =
    /^([\s\S]*)\n\[… (?:about )?(\d+) (\w+) cut; full output: shown\/call\.txt …\]\n([\s\S]*)$/.exec(text);
  if (!match) throw new Error(`no notice of a cut in: ${text.slice(0, 200)}`);
  const [, head = '', cut, unit = '', tail = ''] = match;
  return { head, cut: Number(cut), unit, tail };
}

describe('output up to the cap', () => {
  test.each([1, 7, 10_000])('is returned whole and never stored, in chunks of %i', (chunk) => {
    const text = 'ä😀'.repeat(CAP / 3);
    expect(collect(text, chunk)).toEqual({
      text,
      bytes: Buffer.byteLength(text),
      binary: false,
      path: undefined,
      stored: undefined,
    });
  });

  test('may be nothing at all', () => {
    expect(collect('', 1)).toMatchObject({ text: '', bytes: 0, binary: false, path: undefined });
  });

  test('is cleaned before it is measured', () => {
    const red = '\u001b[31mx\u001b[0m'.repeat(CAP / 10);
    expect(collect(red, 64)).toMatchObject({ text: 'x'.repeat(CAP / 10), path: undefined });
  });

  test('has replacement characters for bytes that are no UTF-8', () => {
    expect(collect(Buffer.from([0x61, 0xff, 0x62]), 1).text).toBe('a\ufffdb');
  });
});

describe('output past the cap', () => {
  const numbered = (lines: number) => Array.from({ length: lines }, (_, i) => `line ${i}\n`).join('');

  test.each([
    [150, 64],
    [150, 1 << 20],
    [400, 64],
    [400, 1 << 20],
    [30_000, 100],
    [30_000, 65_536],
    [30_000, 1 << 20],
  ])('of %i lines is cut to head and tail, and stored as it came, in chunks of %i', (lines, chunk) => {
    const text = numbered(lines);
    const { text: shown, path, stored, bytes } = collect(text, chunk);
    expect(path).toBe('shown/call.txt');
    expect(bytes).toBe(text.length);
    expect(stored?.toString()).toBe(text);
    const { head, tail, cut } = parts(shown);
    expect(head).toBe(text.slice(0, CAP * 0.2));
    expect(tail).toBe(text.slice(-CAP * 0.8));
    expect(cut).toBeGreaterThan(0.99 * (text.length - CAP));
    expect(cut).toBeLessThan(1.01 * (text.length - CAP) + 1);
  });

  test('of 300 KB with the usual cap says how much is missing', () => {
    const text = numbered(30_000);
    const { cut } = parts(collect(text, 65_536, 40_000).text);
    expect(Math.abs(cut - (text.length - 40_000))).toBeLessThan(2000);
  });

  test.each(['é', '日', '😀', 'a😀', '日a'])('never shows half of %j, wherever it is cut', (character) => {
    for (const chunk of [1, 2, 3, 5, 997, 65_536]) {
      for (const prefix of ['', 'x', 'xy', 'xyz']) {
        const { text } = collect(prefix + character.repeat(1500), chunk);
        expect(text.isWellFormed()).toBe(true);
        expect(text).not.toContain('\ufffd');
      }
    }
  });

  test('is never shown twice, however much of it was colour', () => {
    const lines = Array.from({ length: 60 }, (_, i) => `\u001b[38;5;196m${'\u001b[1m'.repeat(12)}<${i}>\n`);
    const { text } = collect(lines.join(''), 65_536);
    for (let i = 0; i < 60; i++) expect(text.split(`<${i}>`).length - 1).toBeLessThanOrEqual(1);
  });

  test('is stored where only its owner can read it', () => {
    collect('x'.repeat(10 * CAP), 100);
    expect(statSync(ws.path('outputs/call.txt')).mode & 0o777).toBe(0o600);
    expect(statSync(ws.path('outputs')).mode & 0o777).toBe(0o700);
  });

  test('of any size takes no more memory than a multiple of the cap', () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const held = () => {
      // What the first round frees is counted in the second.
      collectGarbage();
      collectGarbage();
      return process.memoryUsage().arrayBuffers;
    };
    const before = held();
    const output = new OutputFile(ws.path('big.txt'), 'big.txt', CAP);
    for (let i = 0; i < 1000; i++) output.write(Buffer.alloc(10_000, 120));
    expect(held() - before).toBeLessThan(3_000_000);
    expect(output.finish().bytes).toBe(10_000_000);
    expect(statSync(ws.path('big.txt')).size).toBe(10_000_000);
  });
});

describe('binary output', () => {
  test.each([
    ['short', 10],
    ['long', 500_000],
  ])('is replaced by its size: %s', (_, size) => {
    const data = Buffer.alloc(size, 0);
    expect(collect(data, 4096)).toMatchObject({
      text: `[binary output, ${size} bytes]`,
      binary: true,
      bytes: size,
    });
  });

  test('is known by a NUL in a later chunk too', () => {
    expect(collect(Buffer.from('text first, then \0 data'), 3).binary).toBe(true);
  });

  test('is known without a NUL, by bytes that no text has', () => {
    const data = Buffer.from(Array.from({ length: 1020 }, (_, i) => (i % 255) + 1));
    expect(collect(data, 100).binary).toBe(true);
  });
});

describe('output beyond the room that is left', () => {
  const inRoom = (room: OutputRoom, name: string) =>
    new OutputFile(ws.path(`${name}.txt`), `${name}.txt`, CAP, { room });
  const stored = (name: string) => readFileSync(ws.path(`${name}.txt`), 'utf8');

  test('is stored as far as it goes, and that is said in the file and in the text', () => {
    const output = inRoom(new OutputRoom(5000), 'a');
    output.write(Buffer.from('x'.repeat(9000)));
    const { text, bytes, path, note } = output.finish();
    const mark = 'limits.stored_output, for all outputs of the run, is used up';
    expect(stored('a')).toBe(
      `${'x'.repeat(5000)}\n[only the first 5000 bytes stored: ${mark}: it may take 4.9 KiB]\n`,
    );
    expect(note).toBe(`only the first 5000 bytes stored in a.txt: ${mark}`);
    expect(text).toContain(`\n[… about 8000 bytes cut; ${note} …]\n`);
    expect([bytes, path]).toEqual([9000, 'a.txt']);
  });

  test('of several that come at the same time is not stored twice', () => {
    const room = new OutputRoom(10_000, 1000);
    const outputs = ['a', 'b', 'c'].map((name) => inRoom(room, name));
    for (let i = 0; i < 100; i++) for (const output of outputs) output.write(Buffer.alloc(100, 120));
    for (const output of outputs) expect(output.finish().note).toMatch(/^only the first \d+ bytes/);
    const sizes = ['a', 'b', 'c'].map((name) => /^x*/.exec(stored(name))?.[0].length ?? 0);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(9000);
  });

  test('is not cut within a character', () => {
    const output = inRoom(new OutputRoom(5000), 'a');
    output.write(Buffer.from('☃'.repeat(4000)));
    output.finish();
    expect(stored('a')).toMatch(/^☃{1666}\n\[only the first 4998 bytes/);
  });

  test('that is binary says so, too', () => {
    const output = inRoom(new OutputRoom(5000), 'a');
    output.write(Buffer.alloc(9000));
    expect(output.finish().text).toMatch(
      /^\[binary output, 9000 bytes; only the first 5000 bytes stored in a\.txt: /,
    );
  });
});

test('where no file can be made the middle is lost, and nothing is promised', () => {
  ws.write('file', '');
  const output = new OutputFile(ws.path('file/call.txt'), 'call.txt', CAP);
  output.write(Buffer.alloc(10 * CAP, 120));
  const { text, path } = output.finish();
  expect(path).toBeUndefined();
  expect(text).toMatch(/x\n\[… about \d+ bytes cut …\]\nx/);
});
