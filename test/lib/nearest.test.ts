import { describe, expect, test } from '@jest/globals';
import { shareOfDifference, nearest } from '../../src/lib/nearest.js';

describe('the nearest word', () => {
  const words = ['file_path', 'offset', 'limit'];
  test.each([
    ['file_paht', 'file_path'],
    ['FILE_PATH', 'file_path'],
    ['limits', 'limit'],
    ['ofset', 'offset'],
    ['entirely_else', undefined],
    ['', undefined],
  ])('to %j is %p', (word, meant) => {
    expect(nearest(word, words)).toBe(meant);
  });

  test('is the closest of several', () => {
    expect(nearest('readme', ['readmes.txt', 'readm', 'read'])).toBe('readm');
  });

  test('is none where there is nothing to choose from', () => {
    expect(nearest('word', [])).toBeUndefined();
  });
});

test.each([
  ['', '', 0],
  ['abc', 'abc', 0],
  ['abc', 'abd', 1 / 3],
  ['abc', 'xyz', 1],
  ['', 'abc', 1],
])('%j and %j differ by %p', (a, b, d) => {
  expect(shareOfDifference(a, b)).toBe(d);
});
