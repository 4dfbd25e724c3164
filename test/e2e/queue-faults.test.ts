import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { commitAll, journalled, lastResult, outOf, promptOf, resultsIn, turnOf } from '../helpers/batch.js';
import { countOf } from '../helpers/counts.js';
import { cutLine } from '../helpers/cut-line.js';
import { coordinate, employ, startCoordinator, startWorker } from '../helpers/fleet.js';
import { call, text, type LoggedRequest } from '../helpers/gemini-server.mjs';
import { QUEUE_SERVERS, startQueueServer, testOn, type QueueServer } from '../helpers/queue-server.js';
import { runCli, type Scratch, type StartedProgram } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';
import { until } from '../helpers/until.js';

shareProcess();

const names = Array.from({ length: 4 }, (_, i) => `src/${i}.ts`);
const ARGS = ['-p', 'Explain {{file}}', '--each', 'src/*.ts', '--name', 'each', '--policy', 'read-only'];
const LONG = 120_000;
const FROZEN_KEY = 'key-of-the-frozen-worker-0123456789';

function repository(): Scratch {
  const where = place(Object.fromEntries(names.map((name) => [name, `${name}\n`])));
  commitAll(where);
  return where;
}

/** Two turns a task: a call, then the answer. */
const twoTurns = (request: LoggedRequest) =>
  turnOf(request) === 1
    ? { parts: [call('list_directory', { dir_path: '.' })] }
    : { parts: [text(`answer to ${promptOf(request)}`)] };

/** One accepted result a task, nothing lost, and a folder that can be verified. */
async function expectWhole(where: Scratch): Promise<void> {
  expect(resultsIn(where).map(({ id, status, response }) => [id, status, response])).toEqual(
    names.map((name) => [name, 'completed', `answer to Explain ${name}`]),
  );
  const ends = journalled(where, 'task_end').filter(({ ended }) => ended);
  expect(ends.map(({ id }) => id).toSorted()).toEqual(names);
  expect((await runCli(['verify', outOf(where)])).code).toBe(0);
}

const isThorough = countOf('BATCH_KILLS') > 10;

describe.each(QUEUE_SERVERS)('on %s', (kind) => {
  let queue: QueueServer;
  beforeAll(async () => {
    queue = await startQueueServer(kind);
  }, LONG);
  afterAll(() => queue.stop());

  test.each(isThorough ? ['at its first request', 'after a call', 'as it delivers'] : ['after a call'])(
    'a worker that is killed %s loses nothing',
    async (phase) => {
      const where = repository();
      const doomed: { worker?: StartedProgram } = {};
      const kill = () => void doomed.worker?.child.kill('SIGKILL');
      const model = await serve((request, index) => {
        if (
          phase === 'at its first request'
            ? index === 0
            : phase === 'after a call' && turnOf(request) === 2 && index < 6
        )
          kill();
        return twoTurns(request);
      });
      const worker = startWorker(queue, model, where, ['--concurrency', '2']);
      doomed.worker = worker;
      if (phase === 'as it delivers')
        worker.child.stderr?.on('data', (line: string) => void (/completed/.test(line) && kill()));
      const running = coordinate(queue, model, where, ARGS);
      await worker.done;
      employ(queue, model, where, ['--concurrency', '4']);
      expect((await running).code).toBe(0);
      await expectWhole(where);
    },
    LONG,
  );

  testOn('redis', kind)(
    'a worker that was frozen beyond its lock sends nothing more, and its results are thrown away and counted',
    async () => {
      const where = repository();
      const frozen: { worker?: StartedProgram } = {};
      const held = new Set<string>();
      const model = await serve((request) => {
        if (held.size < 2) {
          held.add(promptOf(request));
          // Both requests are out, and no answer has come.
          if (held.size === 2) frozen.worker?.child.kill('SIGSTOP');
          return { ...twoTurns(request), delayMs: 4000 };
        }
        // Somebody else has one of its tasks now: it wakes up, and finds the answer to its own request.
        if (held.has(promptOf(request))) frozen.worker?.child.kill('SIGCONT');
        return { ...twoTurns(request), delayMs: 2000 };
      });
      frozen.worker = startWorker(queue, model, where, ['--concurrency', '2'], {
        GEMINI_API_KEY: FROZEN_KEY,
      });
      const running = coordinate(queue, model, where, ARGS);
      await until(() => held.size === 2, 'two requests', LONG);
      employ(queue, model, where, ['--concurrency', '1']);
      expect((await running).code).toBe(0);
      await expectWhole(where);
      expect(lastResult(where).late_results).toBe(2);
      // It went on with none of them: whatever it said of them later, it began with the first turn again.
      const own = model.requests.filter(({ headers }) => headers['x-goog-api-key'] === FROZEN_KEY);
      for (const prompt of held) {
        const turns = own.filter((request) => promptOf(request) === prompt).map(turnOf);
        expect(turns.filter((turn) => turn === 2).length).toBeLessThan(
          turns.filter((turn) => turn === 1).length,
        );
      }
    },
    2 * LONG,
  );

  testOn('postgres', kind)(
    'a coordinator that is killed goes on where it was, and the workers do not wait for it',
    async () => {
      const where = repository();
      const model = await serve(twoTurns);
      const first = startCoordinator(queue, model, where, ARGS);
      await until(() => journalled(where, 'batch_init').length > 0, 'the start', LONG);
      employ(queue, model, where, ['--concurrency', '2']);
      await until(() => model.requests.length >= 2, 'two requests', LONG);
      first.child.kill('SIGKILL');
      await first.done;
      await until(() => model.requests.length >= 8, 'all tasks to be worked off', LONG);
      expect((await coordinate(queue, model, where, ARGS)).code).toBe(0);
      await expectWhole(where);
      expect(model.requests).toHaveLength(8);
    },
    LONG,
  );

  test(
    'the server may be restarted under load',
    async () => {
      const where = repository();
      let restarted: Promise<void> | undefined;
      const model = await serve((request, index) => {
        if (index === 2) restarted = queue.restart();
        return twoTurns(request);
      });
      employ(queue, model, where, ['--concurrency', '2']);
      expect((await coordinate(queue, model, where, ARGS)).code).toBe(0);
      await restarted;
      await expectWhole(where);
    },
    2 * LONG,
  );

  testOn('redis', kind)(
    'a worker that is cut off stops sending requests, and others finish its tasks',
    async () => {
      const where = repository();
      const line = await cutLine(queue.port);
      const far = { url: queue.url.replace(`:${queue.port}`, `:${line.port}`) };
      let requestsWhenCut = 0;
      const model = await serve((request, index) => {
        if (index === 1) {
          line.cut();
          requestsWhenCut = model.requests.length;
        }
        return twoTurns(request);
      });
      const lonely = startWorker(far, model, where, ['--concurrency', '2']);
      const running = coordinate(queue, model, where, ARGS);
      await until(() => requestsWhenCut > 0, 'the cut', LONG);
      // Longer than the lock: whoever still thinks that the tasks are its own would go on by now.
      await new Promise((resolve) => setTimeout(resolve, 7000));
      expect(model.requests.length).toBeLessThanOrEqual(requestsWhenCut + 1);
      employ(queue, model, where, ['--concurrency', '4']);
      expect((await running).code).toBe(0);
      line.heal();
      await expectWhole(where);
      lonely.child.kill('SIGTERM');
    },
    2 * LONG,
  );

  testOn('postgres', kind)(
    'a second coordinator on the batch is exit 2',
    async () => {
      const where = repository();
      const model = await serve(twoTurns);
      const first = startCoordinator(queue, model, where, ARGS);
      await until(() => journalled(where, 'batch_init').length > 0, 'the start', LONG);
      const same = await coordinate(queue, model, where, ARGS);
      expect([same.code, same.stderr]).toEqual([2, expect.stringContaining('another process works on')]);
      const copy = join(where.root, 'copy');
      cpSync(outOf(where), copy, { recursive: true, filter: (path) => !path.includes('batch.lock') });
      const other = await coordinate(queue, model, where, [...ARGS, '--out', copy]);
      expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('another process coordinates')]);
      first.child.kill('SIGTERM');
      expect((await first.done).code).toBe(143);
    },
    LONG,
  );
});
