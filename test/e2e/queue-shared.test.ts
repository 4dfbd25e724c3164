import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { queueAddress } from '../../src/fleet/address.js';
import type { QueueStatus } from '../../src/batch/queue/status.js';
import { untilReachable } from '../../src/fleet/unreachable.js';
import { Fleet } from '../../src/fleet/fleet.js';
import { batchFile, commitAll, journalled, lastResult, outOf, promptOf } from '../helpers/batch.js';
import { cutLine } from '../helpers/cut-line.js';
import { coordinate, employ, startCoordinator } from '../helpers/fleet.js';
import { text, type LoggedRequest } from '../helpers/gemini-server.mjs';
import { QUEUE_SERVERS, startQueueServer, testOn, type QueueServer } from '../helpers/queue-server.js';
import { runCli, startCli } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';
import { until } from '../helpers/until.js';

shareProcess();

const LONG = 120_000;
const TOKENS = 100;
const usage = { promptTokenCount: 60, candidatesTokenCount: 40, totalTokenCount: TOKENS };
const answers = (request: LoggedRequest) => ({ parts: [text(`answer to ${promptOf(request)}`)], usage });
const WORKERS = 3;
const EACH = 2;

/** A batch of so many tasks, and workers for it. */
async function batchOf(
  count: number,
  queue: QueueServer,
  model: { url: string },
  more: readonly string[],
  workers = WORKERS,
) {
  const where = place({ 'a.ts': 'a\n' });
  commitAll(where);
  const file = batchFile(
    where,
    [
      'version: 1',
      'name: shared',
      'prompt: Explain {{n}}',
      `tasks: {list: [${Array.from({ length: count }, (_, n) => `{id: t${n}, n: "${n}"}`).join(', ')}]}`,
      'policy: [read-only]',
      'workspace: {isolation: clone}',
      ...more,
    ].join('\n'),
  );
  for (let i = 0; i < workers; i++) employ(queue, model, where, ['--concurrency', `${EACH}`]);
  return { where, file };
}

describe.each(QUEUE_SERVERS)('over all workers of a queue on %s', (kind) => {
  let queue: QueueServer;
  beforeAll(async () => {
    queue = await startQueueServer(kind);
  }, LONG);
  afterAll(() => queue.stop());

  testOn('redis', kind)(
    'a declared rate holds, and nobody hurries ahead of it',
    async () => {
      const times: number[] = [];
      const model = await serve((request) => {
        times.push(performance.now());
        return answers(request);
      });
      const { where, file } = await batchOf(14, queue, model, ['rate: {requests_per_minute: 120}']);
      // In a process of its own, so that none of it keeps the workers from being heard in time.
      expect((await startCoordinator(queue, model, where, [file]).done).code).toBe(0);
      expect(times).toHaveLength(14);
      // 13 gaps of 500 ms. Counted where they arrive: on a busy machine some come late and close together, so that only
      // the whole says something. Any that lets 4 go at once, or a rate of each worker, is over a second too soon.
      expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(13 * 500 - 500);
      expect(lastResult(where)).toMatchObject({ requests: 14, rejected: 0 });
    },
    LONG,
  );

  testOn('postgres', kind)(
    'one budget holds: it is exceeded by no more than the requests in flight, and the rest stays pending',
    async () => {
      const model = await serve((request) => ({ ...answers(request), delayMs: 200 }));
      const { where, file } = await batchOf(16, queue, model, [`limits: {tokens: ${8 * TOKENS}}`]);
      const { code } = await coordinate(queue, model, where, [file]);
      const { tokens, requests, tasks, reason } = lastResult(where);
      expect([code, reason]).toEqual([6, 'tokens']);
      expect(tokens).toBeLessThanOrEqual((8 + WORKERS * EACH) * TOKENS);
      expect(tokens).toBe(requests * TOKENS);
      expect([requests, tasks.completed + tasks.pending]).toEqual([model.requests.length, 16]);
      expect(tasks.completed).toBeGreaterThanOrEqual(8);
      // More money, and it goes on.
      const richer = readFileSync(file, 'utf8').replace(`tokens: ${8 * TOKENS}`, `tokens: ${1000 * TOKENS}`);
      writeFileSync(file, richer);
      const more = await coordinate(queue, model, where, [file]);
      expect([more.code, lastResult(where).tasks.completed]).toEqual([0, 16]);
      expect(model.requests).toHaveLength(16);
    },
    LONG,
  );

  testOn('redis', kind)(
    'a task begins only if what it may need is left; one at least runs',
    async () => {
      const times: number[] = [];
      const model = await serve((request) => {
        times.push(performance.now());
        return { ...answers(request), delayMs: 300 };
      });
      // Each may need more than half of what there is.
      const { where, file } = await batchOf(4, queue, model, [
        `limits: {tokens: ${10 * TOKENS}}`,
        `task_limits: {tokens: ${6 * TOKENS}}`,
      ]);
      expect((await coordinate(queue, model, where, [file])).code).toBe(0);
      expect(times).toHaveLength(4);
      // One after the other.
      for (const [i, time] of times.slice(1).entries()) expect(time - (times[i] ?? 0)).toBeGreaterThan(290);
    },
    LONG,
  );

  testOn('postgres', kind)(
    'what a worker hears of the provider is in the journal, with its name',
    async () => {
      let rejected = 0;
      const body = JSON.stringify({
        error: {
          code: 429,
          status: 'RESOURCE_EXHAUSTED',
          message: 'Quota exceeded for requests per minute',
          details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '1s' }],
        },
      });
      const model = await serve((request) => (rejected++ === 3 ? { status: 429, body } : answers(request)));
      const { where, file } = await batchOf(6, queue, model, []);
      expect((await coordinate(queue, model, where, [file])).code).toBe(0);
      const [first] = journalled(where, 'gate');
      const workers = journalled(where, 'task_start').map(({ worker }) => worker);
      expect(first).toMatchObject({ kind: 'rejected', account: 'gemini-2.5-flash' });
      expect(workers).toContain(first?.worker);
      expect(lastResult(where)).toMatchObject({ rejected: 1, requests: 7 });
      expect((await runCli(['verify', outOf(where)])).code).toBe(0);
    },
    LONG,
  );

  (kind === QUEUE_SERVERS.at(-1) ? test : () => {})(
    'status tells of tasks, workers, budgets and rates, and --watch goes on when the server was away',
    async () => {
      // Long enough to be looked at.
      const model = await serve((request) => ({ ...answers(request), delayMs: 6000 }));
      const { where, file } = await batchOf(
        4,
        queue,
        model,
        [
          'limits: {tokens: 5000, cost_usd: 3}',
          'rate: {requests_per_minute: 6000, tokens_per_minute: 90000}',
        ],
        0,
      );
      const args = ['batch', 'status', '--queue', queue.url];
      const look = async () => JSON.parse((await runCli([...args, '--json'])).stdout) as QueueStatus;
      const running = coordinate(queue, model, where, [file]);
      let status = await look();
      while (status.tasks.waiting < 4) status = await look();
      expect(status).toMatchObject({
        queue: queue.url,
        tasks: { waiting: 4, active: 0, done: 0, failed: 0 },
        oldest: { id: expect.stringMatching(/^t[0-3]$/), waiting_ms: expect.any(Number) },
        workers: [],
        batches: [
          {
            ...{ name: 'shared', tasks: 4, coordinated: true, cost_usd: 0, limit_usd: 3, tokens: 0 },
            ...{ limit_tokens: 5000, requests: 0, rejected: 0, late_results: 0, halted: null },
            ...{ requests_per_minute: 6000, tokens_per_minute: 90_000 },
          },
        ],
      });
      employ(queue, model, where, ['--concurrency', '3']);
      while (status.workers[0]?.running !== 3) status = await look();
      expect(status).toMatchObject({
        tasks: { waiting: 1, active: 3 },
        workers: [{ concurrency: 3, done: 0 }],
      });
      const told = await runCli(args);
      expect(told.stdout).toMatch(/ 1 waiting, 3 running, 0 to be fetched, 0 failed\n/);
      expect(told.stdout).toMatch(/^worker .* 3 of 3 running, 0 done, seen .+ ago$/m);
      expect(told.stdout).toContain('at most 6000 requests a minute, at most 90000 tokens a minute');
      const watch = startCli([...args, '--watch', '--json']);
      let lines = 0;
      watch.child.stdout?.on('data', (bytes: Buffer) => void (lines += String(bytes).split('\n').length - 1));
      await until(() => lines > 0, 'a first look', LONG);
      await queue.restart();
      const before = lines;
      await until(() => lines > before + 1, 'looks after the restart', LONG);
      watch.child.kill('SIGTERM');
      await watch.done;
      expect((await running).code).toBe(0);
    },
    LONG,
  );

  test('the ledger is atomic, and asking it twice is asking it once', async () => {
    const fleet = await Fleet.open(queueAddress(queue.url), () => {});
    const { store } = fleet;
    const hold = (job: string, word = 'w1') => ({ batch: 'b1', job, word });
    const bounds = {
      name: 'b',
      total: 9,
      tokens: 1000,
      task: { tokens: 400 },
      spent: { costUsd: 0, tokens: 0 },
    };
    try {
      expect(await store.take(hold('a'))).toEqual({ type: 'gone' });
      await store.claim('b1', { holder: 'h', place: 'p', forMs: 30_000 }, bounds);
      expect(await store.take(hold('a'))).toEqual({ type: 'begun', count: 1 });
      expect(await store.take(hold('a'))).toEqual({ type: 'begun', count: 1 });
      expect(await store.take(hold('b'))).toEqual({ type: 'begun', count: 1 });
      expect(await store.take(hold('c'))).toEqual({ type: 'full' });
      // Another worker has it now.
      expect(await store.take(hold('a', 'w2'))).toEqual({ type: 'begun', count: 2 });
      expect(await store.admit(hold('a'), 'm', false)).toEqual({ type: 'lost' });
      expect(await store.admit(hold('a', 'w2'), 'm', false)).toEqual({ type: 'go' });
      await store.settle(hold('a', 'w2'), 'm', { number: 1, costUsd: 0, tokens: 100 });
      // 100 spent, 300 and 400 reserved: 200 are left.
      expect(await store.take(hold('c'))).toEqual({ type: 'full' });
      expect([
        await store.release(hold('a', 'w2'), true),
        await store.release(hold('a', 'w2'), true),
      ]).toEqual([true, true]);
      expect(await store.release(hold('a'), true)).toBe(false);
      expect(await store.take(hold('c'))).toEqual({ type: 'begun', count: 1 });
      // A dead worker's task that nobody takes again keeps nothing.
      await store.forget('b1', 'b');
      expect(await store.take(hold('d'))).toEqual({ type: 'begun', count: 1 });
      expect(await store.state('b1')).toMatchObject({ tokens: 100, requests: 1, late: 1 });
      await store.settle(hold('d'), 'm', { number: 1, costUsd: 0, tokens: 900 });
      expect(await store.take(hold('e'))).toEqual({ type: 'halted' });
      expect(await store.admit(hold('d'), 'm', false)).toEqual({ type: 'empty', of: 'tokens' });
      await store.leave('b1', 'h', true);
      expect([await store.state('b1'), (await store.batches()).includes('b1')]).toEqual([undefined, false]);
    } finally {
      await fleet.close();
    }
  });

  test(
    'a charge whose answer is lost on its way is repeated, and counts once',
    async () => {
      const line = await cutLine(queue.port);
      const fleet = await Fleet.open(
        queueAddress(queue.url.replace(`:${queue.port}`, `:${line.port}`)),
        () => {},
      );
      const { store } = fleet;
      const hold = { batch: 'b2', job: 'a', word: 'w1' };
      const bounds = { name: 'b', total: 1, task: {}, spent: { costUsd: 0, tokens: 0 } };
      const asked = new AbortController().signal;
      const settle = (number: number) =>
        untilReachable(() => store.settle(hold, 'm', { number, costUsd: 1, tokens: 100, retryMs: 1 }), asked);
      try {
        await store.claim('b2', { holder: 'h', place: 'p', forMs: 30_000 }, bounds);
        await store.take(hold);
        const lost = line.loseAnswerTo('settle');
        await Promise.all([settle(1), lost]);
        expect(await store.state('b2')).toMatchObject({ costUsd: 1, tokens: 100, rejected: 1 });
        await settle(2);
        expect(await store.state('b2')).toMatchObject({ costUsd: 2, tokens: 200, rejected: 2 });
      } finally {
        await store.leave('b2', 'h', true);
        await fleet.close();
      }
    },
    LONG,
  );
});
