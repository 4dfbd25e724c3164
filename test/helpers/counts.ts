import { COUNTS } from '../tiers.mjs';

const isThorough = ['soak', 'bounds'].includes(process.env['BOSUN_TEST_TIER'] ?? '');

/** How much a test does in this tier, unless a variable says otherwise. */
export function countOf(name: keyof typeof COUNTS): number {
  return Number(process.env[name] ?? COUNTS[name][isThorough ? 1 : 0]);
}

/** How many rounds a random test takes that is meant to take so many. */
export function rounds(meant: number): number {
  return Math.ceil(meant * countOf('ROUNDS'));
}
