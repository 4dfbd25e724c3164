import { describe, expect, test } from '@jest/globals';
import { splitLines, toJsonLine } from '../../src/lib/jsonl.js';
import { Random } from '../helpers/random.js';

describe('a JSON line', () => {
  test.each([
    ['line separators', 'a\u2028b\u2029c'],
    ['newlines', 'a\nb\r\nc'],
    ['C1 controls', 'a\u009b31mb\u0085c\u007f'],
    ['escape sequences', '\u001b[31m'],
    ['runner commands', '##[error]x ###[group] ##['],
  ])('has no %s in it, and loses none', (_, text) => {
    const line = toJsonLine({ text });
    expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]|##\[/);
    expect(JSON.parse(line)).toEqual({ text });
  });

  test('is valid UTF-8 whatever the text is', () => {
    const line = toJsonLine({ 'key\ud800': 'value\udc00' });
    expect(line.isWellFormed()).toBe(true);
    expect(JSON.parse(line)).toEqual({ 'key\ud800': 'value\udc00' });
  });

  test('comes back as it went in, for many texts', () => {
    const random = new Random(11);
    const pieces = [
      '#',
      '##[',
      '[',
      '\\',
      '"',
      '\\u0023[',
      '\u2028',
      '\u0085',
      '😀',
      '\n',
      'a',
      '\0',
      '\u007f',
    ];
    for (let i = 0; i < 2000; i++) {
      const text = random.list(random.below(12), () => random.pick(pieces)).join('');
      const line = toJsonLine([text]);
      expect(JSON.parse(line)).toEqual([text]);
      expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]|##\[/);
    }
  });
});

test.each([
  ['', []],
  ['a\n', [[1, 'a', true]]],
  [
    'a\n\nb',
    [
      [1, 'a', true],
      [2, '', true],
      [3, 'b', false],
    ],
  ],
  ['\n', [[1, '', true]]],
  ['a\r\n', [[1, 'a\r', true]]],
])('the file %j has the lines %j', (file, lines) => {
  const found = [...splitLines(Buffer.from(file))];
  expect(found.map(({ number, bytes, whole }) => [number, bytes.toString(), whole])).toEqual(lines);
});
