import { expect, test } from '@jest/globals';
import { formatDollars } from '../../src/lib/money.js';

test.each([
  [0, '$0.00'],
  [0.0000001, '<$0.000001'],
  [0.000225, '$0.000225'],
  [0.0141, '$0.0141'],
  [0.5, '$0.50'],
  [0.999999, '$0.999999'],
  [1.005, '$1.00'],
  [12.3, '$12.30'],
  [5, '$5.00'],
  [1000, '$1000.00'],
])('%d dollars are %s', (dollars, text) => {
  expect(formatDollars(dollars)).toBe(text);
});
