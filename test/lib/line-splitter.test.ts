import { expect, test } from '@jest/globals';
import { lineSplitter } from '../../src/lib/line-splitter.js';

function split(chunks: readonly (string | Buffer)[], maxBytes = 100): string[] {
  const seen: string[] = [];
  const take = lineSplitter(maxBytes, {
    onLine: (line) => seen.push(line),
    onTooLong: () => seen.push('(too long)'),
  });
  for (const chunk of chunks) take(Buffer.from(chunk));
  return seen;
}

const snowman = Buffer.from('☃\n');
const cases: [string, (string | Buffer)[], string[]][] = [
  ['lines in one chunk', ['a\nb\n'], ['a', 'b']],
  ['a line in many chunks', ['a', '', 'b', '\n'], ['ab']],
  ['empty lines', ['\n\n'], ['', '']],
  ['returns at the end', ['a\r\nb\rc\r', '\n'], ['a', 'b\rc']],
  ['a character in two chunks', [snowman.subarray(0, 1), snowman.subarray(1)], ['☃']],
  ['no end yet', ['a\nb'], ['a']],
  ['a line that is just short enough', [`${'x'.repeat(100)}\n`], ['x'.repeat(100)]],
  ['a line that is too long', ['x'.repeat(101), 'x'.repeat(500), 'x\nnext\n'], ['(too long)', 'next']],
];
test.each(cases)('%s', (_what, chunks, expected) => {
  expect(split(chunks)).toEqual(expected);
});

test('a flood without an end is not kept', () => {
  const flood = Array.from({ length: 2000 }, () => 'x'.repeat(1000));
  expect(split([...flood, '\n', 'calm\n'])).toEqual(['(too long)', 'calm']);
});
