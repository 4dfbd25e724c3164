import { expect, test } from '@jest/globals';
import { cutNotice, headOf, sharesOf, tailOf } from '../../src/lib/truncate.js';

test.each([
  [40_000, 8000, 32_000],
  [10, 2, 8],
  [7, 1, 6],
])('of %i characters a fifth comes from the beginning and the rest from the end', (cap, head, tail) => {
  expect(sharesOf(cap)).toEqual({ head, tail });
});

test.each([
  ['abcdef', 3, 'abc'],
  ['ab', 3, 'ab'],
  ['ab😀', 3, 'ab'],
  ['ab😀', 4, 'ab😀'],
  ['', 0, ''],
])('the head of %j with %i characters never ends in half a character', (text, length, head) => {
  expect(headOf(text, length)).toBe(head);
});

test.each([
  ['abcdef', 3, 'def'],
  ['ab', 3, 'ab'],
  ['😀ab', 3, 'ab'],
  ['😀ab', 4, '😀ab'],
  ['', 0, ''],
])('the tail of %j with %i characters never begins in half a character', (text, length, tail) => {
  expect(tailOf(text, length)).toBe(tail);
});

test('a cut is told on a line of its own, with the place of the whole', () => {
  expect(cutNotice('12 bytes', '; full output: out.txt')).toBe(
    '\n[… 12 bytes cut; full output: out.txt …]\n',
  );
  expect(cutNotice('12 bytes', '')).toBe('\n[… 12 bytes cut …]\n');
});
