import { expect, test } from '@jest/globals';
import { formatDuration, parseDuration } from '../../src/lib/duration.js';

test.each([
  ['90s', 90_000],
  ['1.5m', 90_000],
  ['500ms', 500],
  ['2h', 7_200_000],
  [' 5m ', 300_000],
  ['0s', 0],
  ['10', undefined],
  ['', undefined],
  ['-1s', undefined],
  ['1 s', undefined],
  ['1e3s', undefined],
  ['.5s', undefined],
  ['1d', undefined],
  ['1S', undefined],
  ['5mm', undefined],
])('the duration %j is %p milliseconds', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each([
  [0, '0 ms'],
  [850, '850 ms'],
  [999.7, '1.0 s'],
  [12_340, '12.3 s'],
  [59_960, '1m 00s'],
  [60_000, '1m 00s'],
  [245_000, '4m 05s'],
  [3_600_000, '60m 00s'],
])('%p milliseconds are shown as %j', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});
