import { expect, test } from '@jest/globals';
import { occurrencesOf } from '../../src/lib/occurrences.js';
import { Random } from '../helpers/random.js';

function byIndexOf(all: string, wanted: string): number[] {
  const found: number[] = [];
  for (let at = all.indexOf(wanted); at >= 0; at = all.indexOf(wanted, at + wanted.length)) found.push(at);
  return found;
}

test('finds in strings what indexOf finds', () => {
  const random = new Random(5);
  const text = (length: number) => random.list(length, () => random.pick(['a', 'a', 'b'])).join('');
  for (let i = 0; i < 2000; i++) {
    const [all, wanted] = [text(random.below(40)), text(1 + random.below(5))];
    expect([all, wanted, occurrencesOf(all, wanted)]).toEqual([all, wanted, byIndexOf(all, wanted)]);
  }
});

test('finds a list in a list, and nothing nowhere', () => {
  expect(occurrencesOf(['x', 'yy', 'x', 'yy', 'z'], ['x', 'yy'])).toEqual([0, 2]);
  expect(occurrencesOf(['x'], [])).toEqual([]);
  expect(occurrencesOf([], ['x'])).toEqual([]);
});
