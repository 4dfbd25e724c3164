import { expect, test } from '@jest/globals';
import { uniformEnding, withEnding } from '../../../src/tools/files/line-endings.js';

test.each([
  ['', undefined],
  ['no newline', undefined],
  ['\n', '\n'],
  ['a\nb', '\n'],
  ['\r\n', '\r\n'],
  ['a\r\nb\r\nc', '\r\n'],
  ['a\r\nb\n', undefined],
  ['a\nb\r\n', undefined],
  ['a\rb', undefined],
  ['a\rb\n', '\n'],
])('all lines of %j end in %j', (text, ending) => {
  expect(uniformEnding(text)).toBe(ending);
});

test.each([
  ['a\nb\r\nc', '\n', 'a\nb\nc'],
  ['a\nb\r\nc', '\r\n', 'a\r\nb\r\nc'],
  ['a\rb', '\r\n', 'a\rb'],
  ['', '\r\n', ''],
] as const)('%j with the ending %j is %j', (text, ending, after) => {
  expect(withEnding(text, ending)).toBe(after);
});
