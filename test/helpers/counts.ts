import { test } from '@jest/globals';
import { COUNTS } from '../tiers.mjs';

export const isThorough = ['soak', 'bounds'].includes(process.env['BOSUN_TEST_TIER'] ?? '');

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

/** Takes a test, and leaves it to another tier. */
export const elsewhere = Object.assign(() => {}, { each: () => () => {} }) as unknown as typeof test;

/** `test` for what takes much to try out and is hardly ever touched: in the soak tier only, beside a like test that is not. */
export const thorough: typeof test = isThorough ? test : elsewhere;

/** `test.each` for tables whose rows start processes: the first and every fourth after it; all of them in the soak tier. */
export const sampled: Pick<typeof test, 'each'> = {
  each: ((table: readonly unknown[]) =>
    test.each(table.filter((_, i) => i % countOf('TABLE_EVERY') === 0))) as typeof test.each,
};
