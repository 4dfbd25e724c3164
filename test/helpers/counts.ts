import { test } from '@jest/globals';
import { COUNTS } from '../tiers.mjs';

const isThorough = ['soak', 'bounds'].includes(process.env['BOSUN_TEST_TIER'] ?? '');

/** How much a test does in this tier, unless a variable says otherwise. */
export function countOf(name: keyof typeof COUNTS): number {
  return Number(process.env[name] ?? COUNTS[name][isThorough ? 1 : 0]);
}

/** How large something is that is meant to be so large, to keep us busy: its time is judged by `npm run bench:bounds`. */
export function sized(meant: number): number {
  return Math.ceil(meant * countOf('SIZES'));
}

/** How many rounds a random test takes that is meant to take so many. */
export function rounds(meant: number): number {
  return Math.ceil(meant * countOf('ROUNDS'));
}

/** `test.each` for tables whose rows start processes: the first and every third after it; all of them in the soak tier. */
export const sampled: Pick<typeof test, 'each'> = {
  each: ((table: readonly unknown[]) =>
    test.each(table.filter((_, i) => i % countOf('TABLE_EVERY') === 0))) as typeof test.each,
};
