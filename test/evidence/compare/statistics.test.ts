import { describe, expect, test } from '@jest/globals';
import { isTossUp, meanInterval, shareInterval } from '../../../src/evidence/compare/statistics.js';

describe('an interval for a share', () => {
  // From the literature: Newcombe 1998, table 1, method 3.
  test.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])('%i of %i', (hits, trials, low, high) => {
    const interval = shareInterval(hits, trials);
    expect(interval.low).toBeCloseTo(low, 4);
    expect(interval.high).toBeCloseTo(high, 4);
  });

  test('nothing tried says nothing', () => {
    expect(shareInterval(0, 0)).toEqual({ low: 0, high: 1 });
  });
});

describe('ups and downs', () => {
  // Two-sided binomial: 5 of 5 is 0.0625, 6 of 6 is 0.03125, 9 of 10 is 0.0215, 8 of 10 is 0.109.
  test.each([
    [0, 0, true],
    [5, 0, true],
    [6, 0, false],
    [0, 6, false],
    [9, 1, false],
    [8, 2, true],
    [500, 500, true],
    [5300, 4700, false],
  ])('%i and %i: a toss-up is %s', (ups, downs, expected) => {
    expect(isTossUp(ups, downs)).toBe(expected);
  });
});

describe('an interval for a mean', () => {
  test('holds the mean, is the same each time, and grows with what differs', () => {
    const steady = Array.from({ length: 40 }, (_, i) => 10 + (i % 2));
    const wild = Array.from({ length: 40 }, (_, i) => (i % 2 ? -90 : 111));
    const [narrow, wide] = [meanInterval(steady), meanInterval(wild)];
    expect(narrow).toEqual(meanInterval(steady));
    expect(narrow?.low).toBeGreaterThan(10.2);
    expect(narrow?.high).toBeLessThan(10.8);
    expect(wide?.low).toBeLessThan(0);
    expect(wide?.high).toBeGreaterThan(20);
  });

  test('takes about what theory gives for many differences', () => {
    const differences = Array.from({ length: 1000 }, (_, i) => Math.sin(i * 12.9898) * 10);
    const mean = differences.reduce((sum, one) => sum + one, 0) / 1000;
    const deviation = Math.sqrt(differences.reduce((sum, one) => sum + (one - mean) ** 2, 0) / 999);
    const interval = meanInterval(differences);
    const half = (1.96 * deviation) / Math.sqrt(1000);
    expect(((interval?.high ?? 0) - (interval?.low ?? 0)) / (2 * half)).toBeCloseTo(1, 1);
  });

  test('does not guess from a handful', () => {
    expect(meanInterval([1, 1, 1, 1, 1])).toBeUndefined();
  });
});
