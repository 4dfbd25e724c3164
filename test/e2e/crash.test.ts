import { expect, test } from '@jest/globals';
import { crashRun } from '../helpers/crash-run.js';
import { Random } from '../helpers/random.js';

/** `BOSUN_CRASH_RUNS=200 npm test -- test/e2e/crash` for the long version. */
const RUNS = Number(process.env['BOSUN_CRASH_RUNS'] ?? 12);
const SEED = Number(process.env['BOSUN_CRASH_SEED'] ?? Date.now() % 1_000_000);
const AT_A_TIME = 2;

test(
  `${RUNS} runs of 60 calls, killed at random moments and resumed until done, do everything at most once`,
  async () => {
    let next = 0;
    let kills = 0;
    let interrupted = 0;
    const worker = async () => {
      while (next < RUNS) {
        const seed = SEED + next++;
        const run = await crashRun(new Random(seed));
        kills += run.kills;
        interrupted += run.interrupted.length;
        expect({ seed, faults: run.faults }).toEqual({ seed, faults: [] });
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, worker));
    if (RUNS > 12) process.stderr.write(`${RUNS} runs, ${kills} kills, ${interrupted} interrupted calls\n`);
    expect(kills).toBeGreaterThan(RUNS);
  },
  RUNS * 60_000,
);
