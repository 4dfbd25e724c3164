import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isThorough } from '../helpers/counts.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  batchFile,
  commitAll,
  journalled,
  lastResult,
  outOf,
  promptOf,
  resultsIn,
  turnOf,
} from '../helpers/batch.js';
import { coordinate, employ, startCoordinator, startWorker } from '../helpers/fleet.js';
import { call, text, type LoggedRequest } from '../helpers/gemini-server.mjs';
import { QUEUE_SERVERS, startQueueServer, testOn, type QueueServer } from '../helpers/queue-server.js';
import { REPOSITORY, runCli, type Scratch, type StartedProgram } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';
import { until } from '../helpers/until.js';

shareProcess();

const ARGS = ['-p', 'Explain {{file}}', '--each', 'src/*.ts', '--name', 'each', '--policy', 'read-only'];
const LONG = 120_000;
const answers = (request: LoggedRequest) => ({ parts: [text(`answer to ${promptOf(request)}`)] });

function repository(count = 2): Scratch {
  const names = Array.from({ length: count }, (_, i) => `src/${i}.ts`);
  const where = place(Object.fromEntries(names.map((name) => [name, `${name}\n`])));
  commitAll(where);
  return where;
}

/** The tasks of a batch with a policy that lets commands run. */
function commandBatch(where: Scratch, more: readonly string[] = []): string {
  writeFileSync(
    join(where.root, 'policy.yaml'),
    'version: 1\nmode: auto_edit\nrules:\n  - {id: commands, tool: run_shell_command, decision: allow}\n',
  );
  return batchFile(
    where,
    [
      'version: 1',
      'name: commands',
      'prompt: Change {{file}}',
      'tasks: {glob: {include: ["src/*.ts"]}}',
      'policy: [policy.yaml]',
      ...more,
    ].join('\n'),
  );
}

/** Waits until these workers take tasks. */
async function areThere(...workers: readonly StartedProgram[]): Promise<void> {
  let told = '';
  for (const { child } of workers) child.stderr?.on('data', (bytes: Buffer) => (told += String(bytes)));
  const all = () => told.match(/takes tasks from/g)?.length === workers.length;
  await until(all, `${workers.length} workers`, LONG);
}

const HOUR_MS = 3_600_000;

/** The environment of a process whose clock is off. */
function clock(offsetMs: number): Record<string, string> {
  const shift = join(REPOSITORY, 'test/helpers/shift-clock.cjs');
  return { NODE_OPTIONS: `--require ${JSON.stringify(shift)}`, CLOCK_OFFSET_MS: `${offsetMs}` };
}

describe.each(QUEUE_SERVERS)('a worker of a queue on %s', (kind) => {
  let queue: QueueServer;
  beforeAll(async () => {
    queue = await startQueueServer(kind);
  }, LONG);
  afterAll(() => queue.stop());

  testOn('postgres', kind)(
    'lets what runs finish after SIGTERM, and takes nothing more: exit 0',
    async () => {
      const where = repository(3);
      const model = await serve((request) => ({ ...answers(request), delayMs: 1000 }));
      const worker = employ(queue, model, where, ['--concurrency', '1', '--grace', '30s']);
      const running = coordinate(queue, model, where, ARGS);
      await until(() => model.requests.length === 1, 'a request', LONG);
      worker.stop();
      const { code, stderr } = await worker.done;
      expect([code, model.requests.length]).toEqual([0, 1]);
      expect(stderr).toContain('1 running: they have 30 s to finish');
      employ(queue, model, where, ['--concurrency', '2']);
      expect((await running).code).toBe(0);
      expect(model.requests).toHaveLength(3);
      expect(journalled(where, 'task_end').map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
    },
    LONG,
  );

  testOn('redis', kind)(
    'hands back what is not finished after --grace: exit 143, and another one begins with it at once',
    async () => {
      const where = repository(1);
      let slow = true;
      const model = await serve((request) => ({ ...answers(request), delayMs: slow ? 60_000 : 0 }));
      // Nobody has to wait for this lock.
      const worker = startWorker(queue, model, where, ['--grace', '0s', '--lock', '10m']);
      const running = coordinate(queue, model, where, ARGS);
      await until(() => model.requests.length === 1, 'a request', LONG);
      slow = false;
      worker.child.kill('SIGTERM');
      const { code, stderr } = await worker.done;
      expect([code, stderr]).toEqual([143, expect.stringContaining('src/0.ts: handed back')]);
      employ(queue, model, where);
      expect((await running).code).toBe(0);
      expect(journalled(where, 'task_end').map(({ attempt, status }) => [attempt, status])).toEqual([
        [2, 'completed'],
      ]);
      expect(lastResult(where)).toMatchObject({ late_results: 0, requests: 2 });
    },
    LONG,
  );

  testOn('postgres', kind)(
    'holds its own ceiling whatever a batch allows',
    async () => {
      const where = repository(1);
      const model = await serve((request) =>
        turnOf(request) === 1
          ? { parts: [call('run_shell_command', { command: 'echo hello' })] }
          : { parts: [text('done')] },
      );
      const file = commandBatch(where);
      const ceiling = join(where.root, 'ceiling.yaml');
      writeFileSync(
        ceiling,
        'version: 1\nmode: auto_edit\nrules:\n  - {id: commands, tool: run_shell_command, decision: deny}\n',
      );
      const worker = employ(queue, model, where, ['--policy', ceiling]);
      expect((await coordinate(queue, model, where, [file])).code).toBe(13);
      expect(resultsIn(where)).toMatchObject([{ status: 'denied', exit_code: 3 }]);
      const said = JSON.stringify(model.requests.at(-1)?.body ?? model.requests);
      expect(said).not.toContain('"output":"hello');
      worker.stop();
      await worker.done;

      employ(queue, model, where);
      expect((await coordinate(queue, model, where, [file, '--retry-failed'])).code).toBe(0);
    },
    LONG,
  );

  testOn('redis', kind)(
    'is not the only one: what every live worker refuses ends as config_error, with all reasons',
    async () => {
      const where = repository(1);
      const elsewhere = repository(2);
      const model = await serve(answers);
      const one = startWorker(queue, model, elsewhere);
      const other = startWorker(queue, model, elsewhere);
      await areThere(one, other);
      const { code } = await coordinate(queue, model, where, ARGS);
      expect([code, model.requests.length]).toEqual([2, 0]);
      const [end] = journalled(where, 'task_end');
      expect(end).toMatchObject({ status: 'config_error', exit_code: 2, attempt: 1 });
      expect(end?.error?.message.match(/is in no --repository of this worker/g)).toHaveLength(2);
      expect(resultsIn(where)).toMatchObject([{ exit_code: null }]);

      // One that takes it, beside those that do not.
      employ(queue, model, where);
      expect((await coordinate(queue, model, where, ARGS)).code).toBe(0);
    },
    LONG,
  );

  testOn('redis', kind)(
    'may have a clock that is an hour off, in whichever direction, and so may the coordinator',
    async () => {
      const where = repository(3);
      // Each task is longer than the lock.
      const model = await serve((request) =>
        turnOf(request) === 1
          ? { parts: [call('list_directory', { dir_path: '.' })], delayMs: 3500 }
          : { ...answers(request), delayMs: 3000 },
      );
      const start = (env?: Record<string, string>) =>
        startWorker(queue, model, where, ['--concurrency', '1'], env);
      // Each of them gets a task, however slowly it starts.
      await areThere(...[-HOUR_MS, HOUR_MS].map((offset) => start(clock(offset))));
      employ(queue, model, where, ['--concurrency', '1']);
      const coordinator = startCoordinator(queue, model, where, ARGS, clock(-HOUR_MS));
      expect((await coordinator.done).code).toBe(0);
      // Nobody takes a task from another one.
      expect(journalled(where, 'task_end').map(({ attempt, status }) => [attempt, status])).toEqual(
        Array.from({ length: 3 }, () => [1, 'completed']),
      );
      expect(new Set(journalled(where, 'task_start').map(({ worker }) => worker)).size).toBe(3);
      expect([lastResult(where).late_results, model.requests.length]).toEqual([0, 6]);
      expect((await runCli(['verify', outOf(where)])).code).toBe(0);
    },
    LONG,
  );

  test(
    'that dies with a clock an hour ahead keeps its tasks for its lock, and not for that hour, nor for the lock of others',
    async () => {
      const where = repository(1);
      let killed = false;
      const model = await serve((request) => {
        if (!killed) worker.child.kill('SIGKILL');
        killed = true;
        return answers(request);
      });
      const worker = startWorker(queue, model, where, [], clock(HOUR_MS));
      const running = coordinate(queue, model, where, ARGS);
      await worker.done;
      employ(queue, model, where, ['--lock', '10m']);
      expect((await running).code).toBe(0);
    },
    LONG,
  );

  testOn('redis', kind)(
    'brings transcript and patch back from outputs of any size, and of those as much as it may',
    async () => {
      const where = repository(1);
      // 200 MB in the soak tier.
      const [small, large, count] = isThorough ? [15e6, 60e6, 3] : [15e5, 66e6, 1];
      const commands = [
        `head -c ${small} /dev/urandom | base64 -w 100`,
        ...Array.from({ length: count }, () => `yes ${'0123456789'.repeat(9)} | head -c ${large}`),
        'echo changed > new.txt',
      ];
      const model = await serve((request) => {
        const command = commands[turnOf(request) - 1];
        return command === undefined
          ? { parts: [text('done')] }
          : { parts: [call('run_shell_command', { command })] };
      });
      employ(queue, model, where);
      const { code } = await coordinate(queue, model, where, [commandBatch(where)]);
      expect([code, resultsIn(where)]).toMatchObject([0, [{ status: 'completed', attempts: 1 }]]);
      const [result] = resultsIn(where);
      const { patch, transcript } = result as { patch: string; transcript: string };
      expect(readFileSync(join(outOf(where), patch), 'utf8')).toContain('+changed');
      const outputs = join(outOf(where), `${transcript}.d`);
      const sizes = readdirSync(outputs).map((name) => statSync(join(outputs, name)).size);
      // The small one first; no other fits beside it.
      expect(sizes).toEqual([expect.any(Number)]);
      expect(sizes[0]).toBeGreaterThan((small * 4) / 3);
      expect(journalled(where, 'batch_notice')).toMatchObject([
        {
          code: 'outputs_left_out',
          message: expect.stringMatching(
            isThorough
              ? /^not transferred: 3 stored outputs \(1[78]\d(\.\d)? Mi?B\)/
              : /^not transferred: 1 stored output \(6\d(\.\d)? Mi?B\)/,
          ),
        },
      ]);
      expect((await runCli(['verify', outOf(where)])).code).toBe(0);
    },
    2 * LONG,
  );
});
