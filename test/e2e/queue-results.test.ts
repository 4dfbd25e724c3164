import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { queueAddress } from '../../src/fleet/address.js';
import { Fleet, type QueuedJob } from '../../src/fleet/fleet.js';
import type { ResultNote, TaskJob } from '../../src/fleet/job.js';
import { batchFile, commitAll, journalled, lastResult, promptOf, resultsIn } from '../helpers/batch.js';
import { coordinate, employ, type Employed } from '../helpers/fleet.js';
import { text, type LoggedRequest } from '../helpers/gemini-server.mjs';
import { QUEUE_SERVERS, startQueueServer, testOn, type QueueServer } from '../helpers/queue-server.js';
import type { Scratch } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const ARGS = ['-p', 'Explain {{file}}', '--each', 'src/*.ts', '--name', 'each', '--policy', 'read-only'];
const answers = (request: LoggedRequest) => ({ parts: [text(`answer to ${promptOf(request)}`)] });
const LONG = 120_000;
const NONE = { pieces: 0, bytes: 0, sha256: '0'.repeat(64), left: { files: 0, bytes: 0 } };

function repository(): Scratch {
  const where = place({ 'src/a.ts': 'a\n' });
  commitAll(where);
  return where;
}

describe.each(QUEUE_SERVERS)('results that nobody can use, on %s', (kind) => {
  let queue: QueueServer;
  let fleet: Fleet;
  beforeAll(async () => {
    queue = await startQueueServer(kind);
    fleet = await Fleet.open(queueAddress(queue.url), () => {});
  }, LONG);
  const workers: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const worker of workers.splice(0)) await worker.close();
    await fleet.tasks.obliterate({ force: true });
  });
  afterAll(async () => {
    await fleet.close();
    await queue.stop();
  });

  /** A worker of somebody else's making. */
  function startOther(run: (job: QueuedJob) => Promise<unknown>): void {
    const process = (job: QueuedJob) => run(job) as Promise<ResultNote>;
    const worker = fleet.worker({ concurrency: 1, lockMs: 5000, process });
    workers.push(worker);
    void worker.run();
  }

  const first = (job: QueuedJob) => (job.data as TaskJob).attempt;

  testOn('redis', kind).each([
    [
      'lies',
      async () => ({
        ...{ v: 1, job: 'somebody.else.1', attempt: 1, worker: 'liar', word: '0'.repeat(16) },
        ...NONE,
      }),
      'a result was discarded: it belongs to another task',
    ],
    [
      'says that it has results which are not there',
      async (job: QueuedJob) => ({
        ...{ v: 1, job: job.id, attempt: first(job), worker: 'liar', word: '0'.repeat(16) },
        ...{ ...NONE, pieces: 1, bytes: 5 },
      }),
      'a result was discarded: piece 1 of 1 is missing',
    ],
    [
      'says that the batch is halted',
      async (job: QueuedJob) => ({
        ...{ v: 1, job: job.id, attempt: first(job), worker: 'liar', word: '0'.repeat(16) },
        ...{ ...NONE, open: true },
      }),
      'a result was discarded',
    ],
  ])(
    'end the task as tool_infra_error after its attempts, where each worker %s',
    async (_what, run, message) => {
      const where = repository();
      const model = await serve(answers);
      let taken = 0;
      startOther(async (job) => {
        taken++;
        // It was begun a second time, as after the death of a worker: that attempt is the one that ends.
        await job.updateProgress({ attempt: first(job), worker: 'dead' });
        await job.updateProgress({ attempt: first(job) + 1, worker: 'liar' });
        return run(job);
      });
      const { code } = await coordinate(queue, model, where, ARGS);
      expect([code, taken]).toEqual([13, 3]);
      const ends = journalled(where, 'task_end');
      expect(ends.map(({ attempt, status, ended }) => [attempt, status, ended])).toEqual(
        [2, 4, 6].map((attempt) => [attempt, 'tool_infra_error', true]),
      );
      expect(journalled(where, 'task_start').map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6]);
      const notices = journalled(where, 'batch_notice').filter(({ code: name }) => name === 'result_refused');
      expect(notices.map((notice) => notice.message)).toEqual(
        [1, 2, 3].map(() => expect.stringContaining(message)),
      );
      expect(resultsIn(where)).toMatchObject([
        { id: 'src/a.ts', status: 'tool_infra_error', exit_code: 12, attempts: 6 },
      ]);
      expect(lastResult(where)).toMatchObject({ late_results: 3, tasks: { failed: 1, pending: 0 } });
    },
    LONG,
  );

  testOn('postgres', kind)(
    'end the task, too, if its workers fail each time',
    async () => {
      const where = repository();
      const model = await serve(answers);
      let taken = 0;
      startOther(async (job) => {
        taken++;
        await job.updateProgress({ attempt: first(job) + 2, worker: 'ill' });
        throw new fleet.bull.UnrecoverableError('job stalled more than allowable limit');
      });
      const { code } = await coordinate(queue, model, where, ARGS);
      expect([code, taken]).toEqual([13, 3]);
      expect(journalled(where, 'task_end').map(({ attempt, status }) => [attempt, status])).toEqual(
        [3, 6, 9].map((attempt) => [attempt, 'tool_infra_error']),
      );
    },
    LONG,
  );

  test(
    'cost one attempt if the next worker is honest',
    async () => {
      const where = repository();
      const model = await serve(answers);
      let worker: Employed | undefined;
      startOther(async () => {
        void workers.pop()?.close();
        worker = employ(queue, model, where);
        return { nonsense: true };
      });
      expect((await coordinate(queue, model, where, ARGS)).code).toBe(0);
      expect(journalled(where, 'task_end').map(({ attempt, status }) => [attempt, status])).toEqual([
        [1, 'tool_infra_error'],
        [2, 'completed'],
      ]);
      expect(lastResult(where)).toMatchObject({ late_results: 1, requests: 1 });
      worker?.stop();
      expect((await worker?.done)?.code).toBe(0);
    },
    LONG,
  );

  testOn('postgres', kind)(
    'are not those of a task that is to run several times: each run has its number',
    async () => {
      const where = repository();
      const model = await serve(answers);
      const file = batchFile(
        where,
        [
          'version: 1',
          'name: thrice',
          'prompt: Explain {{file}}',
          'tasks: {glob: {include: ["src/*.ts"]}}',
          'policy: [read-only]',
          'repeat: {times: 3, min_passes: 2}',
        ].join('\n'),
      );
      employ(queue, model, where);
      expect((await coordinate(queue, model, where, [file])).code).toBe(0);
      const runs = journalled(where, 'task_end').map(({ attempt, run, status }) => [attempt, run, status]);
      expect(runs).toEqual([
        [1, 1, 'completed'],
        [2, 2, 'completed'],
      ]);
    },
    LONG,
  );
});
