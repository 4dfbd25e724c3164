import { expect, test } from '@jest/globals';
import { countOf } from '../helpers/counts.js';
import { crashRun, SURE_KILLS } from '../helpers/crash-run.js';
import { Random } from '../helpers/random.js';

const RUNS = countOf('BOSUN_CRASH_RUNS');
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
    if (RUNS > 20) process.stderr.write(`${RUNS} runs, ${kills} kills, ${interrupted} interrupted calls\n`);
    expect(kills).toBeGreaterThanOrEqual(RUNS * SURE_KILLS);
  },
  RUNS * 60_000,
);
