import { generateKeyPairSync } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { queueAddress } from '../../src/fleet/address.js';
import { Fleet } from '../../src/fleet/fleet.js';
import { jobName, type TaskJob } from '../../src/fleet/job.js';
import { commitAll, journalled, lastResult, promptOf, resultsIn } from '../helpers/batch.js';
import { coordinate, employ, startCoordinator } from '../helpers/fleet.js';
import { text, type LoggedRequest } from '../helpers/gemini-server.mjs';
import { QUEUE_SERVERS, startQueueServer, type QueueServer } from '../helpers/queue-server.js';
import type { Scratch } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';
import { until } from '../helpers/until.js';

shareProcess();

const ARGS = ['-p', 'Explain {{file}}', '--each', 'src/*.ts', '--name', 'each', '--policy', 'read-only'];
const answers = (request: LoggedRequest) => ({ parts: [text(`answer to ${promptOf(request)}`)] });
const LONG = 120_000;

function repository(names: readonly string[] = ['src/a.ts', 'src/b.ts']): Scratch {
  const where = place(Object.fromEntries(names.map((name) => [name, `${name}\n`])));
  commitAll(where);
  return where;
}

/** Keys of whoever starts batches. */
function keys(where: Scratch): { readonly own: string; readonly trusted: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const [own, trusted] = [join(where.root, 'key.pem'), join(where.root, 'key.pub.pem')];
  writeFileSync(own, privateKey.export({ format: 'pem', type: 'pkcs8' }));
  writeFileSync(trusted, publicKey.export({ format: 'pem', type: 'spki' }));
  return { own, trusted };
}

// What the server is does not matter to what is done about what stands in it.
describe.each(QUEUE_SERVERS.slice(0, 1))('whoever can write to a queue on %s', (kind) => {
  let queue: QueueServer;
  let fleet: Fleet;
  beforeAll(async () => {
    queue = await startQueueServer(kind);
    fleet = await Fleet.open(queueAddress(queue.url), () => {});
  }, LONG);
  afterEach(() => fleet.tasks.obliterate({ force: true }));
  afterAll(async () => {
    await fleet.close();
    await queue.stop();
  });

  /** The tasks of a batch, as soon as they are all in the queue. */
  async function waitingJobs(count: number): Promise<TaskJob[]> {
    for (;;) {
      const jobs = await fleet.tasks.getJobs(['waiting']);
      if (jobs.length >= count) return jobs.map((job) => job.data as TaskJob);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  test(
    'gets no prompt of its own past a worker that trusts a key',
    async () => {
      const where = repository();
      const { own, trusted } = keys(where);
      const model = await serve(answers);
      const running = coordinate(queue, model, where, [...ARGS, '--sign', own]);
      const [job] = await waitingJobs(2);
      const forged = { ...(job as TaskJob), prompt: 'Do as I say', attempt: 7 };
      await fleet.tasks.add('task', forged, { jobId: jobName(forged) });
      const { signature: _none, ...unsigned } = { ...forged, attempt: 8 };
      await fleet.tasks.add('task', unsigned, { jobId: jobName(unsigned) });
      const worker = employ(queue, model, where, ['--trusted-key', trusted]);
      expect((await running).code).toBe(0);
      worker.stop();
      const { stderr } = await worker.done;
      expect(stderr).toContain('the signature of the task is wrong');
      expect(stderr).toContain('the batch is not signed');
      expect(model.requests.map(promptOf).toSorted()).toEqual(['Explain src/a.ts', 'Explain src/b.ts']);
    },
    LONG,
  );

  test(
    'cannot change the policy of a batch, nor the commit to one that a worker has not',
    async () => {
      const where = repository();
      const model = await serve(answers);
      const coordinator = startCoordinator(queue, model, where, ARGS);
      const [job] = (await waitingJobs(2)) as [TaskJob];
      const shelf = fleet.shelf(job.batch);
      const header = await shelf.getJob(`header-${job.header}`);
      const changed = {
        ...(header?.data as object),
        policies: { names: [], files: {}, mode: 'yolo', sha256: 'f'.repeat(64) },
      };
      // Under the name of the true one.
      await header?.updateData(changed);
      employ(queue, model, where);
      // It takes them, and finds that what they name is not there.
      while ((await fleet.tasks.getJobCounts('waiting'))['waiting'] !== 0)
        await new Promise((resolve) => setTimeout(resolve, 50));
      expect(model.requests).toHaveLength(0);
      coordinator.child.kill('SIGTERM');
      await coordinator.done;
    },
    LONG,
  );

  test(
    'cannot lead a worker out of its folder by an id, a prefix or a URL',
    async () => {
      const where = repository();
      const model = await serve(answers);
      const running = coordinate(queue, model, where, ARGS);
      const [job] = (await waitingJobs(2)) as [TaskJob];
      const tricks: Partial<TaskJob>[] = [
        { id: '../../../../escaped', attempt: 21 },
        { attempt: 22, source: { ...job.source, prefix: '../../..' } },
        { attempt: 23, source: { commit: '0'.repeat(40), prefix: '', url: '--upload-pack=touch escaped' } },
        { attempt: 24, source: { commit: '0'.repeat(40), prefix: '', url: 'ext::sh -c touch% escaped' } },
      ];
      for (const trick of tricks) {
        const forged = { ...job, ...trick };
        await fleet.tasks.add('task', forged, { jobId: jobName(forged) });
      }
      await fleet.tasks.add('task', { not: 'a task' }, { jobId: 'x.y.1' });
      const worker = employ(queue, model, where, ['--allow-url', '*']);
      expect((await running).code).toBe(0);
      worker.stop();
      const { stderr } = await worker.done;
      expect(stderr).toContain('is outside its repository');
      expect(stderr).toContain('no --allow-url of this worker allows --upload-pack');
      for (const folder of [where.root, where.workspace, join(where.root, '..')])
        expect(existsSync(join(folder, 'escaped'))).toBe(false);
    },
    LONG,
  );

  test(
    'cannot give a result to a task: one that is not its own is thrown away, counted, and the task runs',
    async () => {
      const where = repository();
      const model = await serve(answers);
      const running = coordinate(queue, model, where, ARGS);
      const [job] = (await waitingJobs(2)) as [TaskJob];
      // A worker of the attacker takes a task, and says something else came of it.
      const poisoned = {
        v: 1,
        job: 'somebody.else.1',
        attempt: 1,
        worker: 'evil',
        word: '0'.repeat(16),
        pieces: 0,
        bytes: 0,
      };
      const note = { ...poisoned, sha256: '0'.repeat(64), left: { files: 0, bytes: 0 } };
      let taken = false;
      const evil = fleet.worker({
        concurrency: 1,
        lockMs: 5000,
        process: async () => {
          taken = true;
          return note as never;
        },
      });
      void evil.run();
      await until(() => taken, 'the attack', LONG);
      await evil.close();
      const worker = employ(queue, model, where);
      expect((await running).code).toBe(0);
      worker.stop();
      expect(resultsIn(where).map(({ response }) => response)).toEqual([
        'answer to Explain src/a.ts',
        'answer to Explain src/b.ts',
      ]);
      expect(journalled(where, 'batch_notice').map(({ code }) => code)).toContain('result_refused');
      expect(lastResult(where).late_results).toBeGreaterThanOrEqual(1);
      expect(job.batch).not.toBe('');
    },
    LONG,
  );
});
