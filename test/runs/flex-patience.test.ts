import { afterEach, expect, jest, test } from '@jest/globals';
import { run } from '../../src/runs/run.js';
import { text } from '../helpers/gemini-server.mjs';
import { serverEnv } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';

const MINUTE = 60_000;

afterEach(() => void jest.restoreAllMocks());

/** How long a run would wait for the first byte of its answer. Its timers are real: they are only read. */
async function firstByteLimit(tier: 'standard' | 'flex', firstByteMs?: number): Promise<number[]> {
  const timers = jest.spyOn(globalThis, 'setTimeout');
  const where = place();
  const server = await serve([{ parts: [text('Done.')] }]);
  const result = await run({
    cwd: where.workspace,
    variables: serverEnv(server, where),
    model: 'gemini-2.5-flash',
    tier: { tier },
    transcript: where.transcript,
    readTask: async () => ({ text: 'x', parts: [{ text: 'x' }] }),
    ...(firstByteMs !== undefined && { patience: { firstByteMs } }),
  });
  expect(result.status).toBe('completed');
  const known = [5 * MINUTE, 20 * MINUTE, firstByteMs];
  return timers.mock.calls.map(([, ms]) => ms as number).filter((ms) => known.includes(ms));
}

test('an answer of the flex tier may take 20 minutes to begin, others 5', async () => {
  expect(await firstByteLimit('standard')).toEqual([5 * MINUTE]);
  jest.restoreAllMocks();
  expect(await firstByteLimit('flex')).toEqual([20 * MINUTE]);
  jest.restoreAllMocks();
  // Whoever says how long it may take is obeyed.
  expect(await firstByteLimit('flex', 7 * MINUTE)).toEqual([7 * MINUTE]);
});
