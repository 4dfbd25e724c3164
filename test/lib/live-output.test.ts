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

describe('more output than anybody looks at in a moment', () => {
  const flood = Array.from({ length: 100 }, (_, i) => `${String(i).padStart(1999, '.')}\n`);

  test('is left out in between, and it is said how much', () => {
    const text = shown(...flood).join('');
    const [, left = '0'] = /\[… (\d+) bytes not shown …\]\n/.exec(text) ?? [];
    expect(text).toBe(`${flood.slice(0, 8).join('')}[… ${left} bytes not shown …]\n${flood.at(-1)}`);
    expect(Number(left)).toBe(91 * 2000);
  });

  test('is shown by its end soon after, also if nothing follows', async () => {
    const last = await new Promise<string>((resolve) => {
      const live = liveOutput((text) => text.endsWith('99\n') && resolve(text));
      for (const chunk of flood) live.push(Buffer.from(chunk));
    });
    expect(last).toBe(flood.at(-1));
  });
});
