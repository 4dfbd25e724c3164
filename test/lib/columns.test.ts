import { expect, test } from '@jest/globals';
import { columnsOf, cutTo, inColumns } from '../../src/lib/columns.js';

test.each([
  ['', 0],
  ['src/a.ts', 8],
  ['größe', 5],
  ['e\u0301', 1],
  ['漢字', 4],
  ['한글', 4],
  ['ｆｕｌｌ', 8],
  ['👍🏽', 2],
  ['👩‍👩‍👧', 2],
  ['🇩🇪', 2],
  ['\u200b\u200d', 0],
])('%j takes %i columns', (line, columns) => expect(columnsOf(line)).toBe(columns));

test('lines are cut between characters, never wider than they may be', () => {
  expect(cutTo('src/a.ts', 8)).toBe('src/a.ts');
  expect(cutTo('src/ab.ts', 8)).toBe('src/ab.…');
  expect(cutTo('漢字漢字', 6)).toBe('漢字…');
  expect(cutTo('a👩‍👩‍👧b👩‍👩‍👧', 4)).toBe('a👩‍👩‍👧…');
  expect(cutTo('abc', 0)).toBe('');
  for (let columns = 0; columns < 20; columns++)
    expect(columnsOf(inColumns('漢 e\u0301 👍🏽 plain', columns))).toBe(columns);
});
