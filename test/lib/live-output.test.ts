import { describe, expect, test } from '@jest/globals';
import { liveOutput } from '../../src/lib/live-output.js';

/** What is shown of some chunks. */
function shown(...chunks: (string | Buffer)[]): string[] {
  const texts: string[] = [];
  const live = liveOutput((text) => texts.push(text));
  for (const chunk of chunks) live.push(Buffer.from(chunk as string));
  live.end();
  return texts;
}

const EURO = Buffer.from('€');

describe('live output', () => {
  test.each<[string, (string | Buffer)[], string[]]>([
    ['as it is while it is short', ['a\n', '', 'b'], ['a\n', 'b']],
    [
      'by its end, after how much was left out',
      ['x'.repeat(500) + 'y'.repeat(2000)],
      ['[… 500 bytes not shown …]\n', 'y'.repeat(2000)],
    ],
    [
      'with characters whole that come in pieces',
      [EURO.subarray(0, 1), EURO.subarray(1, 2), EURO.subarray(2)],
      ['€'],
    ],
    ['cut between characters', ['€'.repeat(700)], ['[… 102 bytes not shown …]\n', '€'.repeat(666)]],
    ['with the rest of a broken character at the end', ['a', EURO.subarray(0, 2)], ['a', '\ufffd']],
    [
      'until it turns out to be binary',
      ['a', Buffer.from([1, 0, 2]), 'b', 'c'],
      ['a', '[binary output, not shown]\n'],
    ],
    [
      'not if it is binary without a NUL',
      [Buffer.from([0xff, 1, 2, 3, 0xfe, 4, 5, 6, 0xc3])],
      ['[binary output, not shown]\n'],
    ],
    ['not at all if there is none', [], []],
  ])('is shown %s', (_, chunks, texts) => {
    expect(shown(...chunks)).toEqual(texts);
  });
});
