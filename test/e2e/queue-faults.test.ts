import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
import { isThorough } from '../helpers/counts.js';
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

const PHASES = ['turn', 'taken', 'setup', 'call', 'pieces', 'sent'];
/** What a worker says as it is about to make a workspace, and as its results are on the server. */
const SAID: Readonly<Record<string, string>> = { taken: ': begun', sent: ': completed' };
const DOOMED = ['--sandbox', 'off', '--concurrency', '1'];
const keyOf = (phase: string) => `key-of-the-worker-${phase}-0123456789`;

/** So many tasks, each with a setup, a call, and a result of some pieces. */
function phasesBatch(where: Scratch, count: number): string {
  const allow = '  - {id: calls, tool: run_shell_command, command: [in-call], decision: allow}';
  writeFileSync(join(where.root, 'policy.yaml'), `version: 1\nmode: plan\nrules:\n${allow}\n`);
  return batchFile(
    where,
    [
      'version: 1',
      'name: phases',
      'prompt: Do {{n}}',
      `tasks: {list: [${Array.from({ length: count }, (_, n) => `{id: t${n}, n: "${n}"}`).join(', ')}]}`,
      'policy: [policy.yaml]',
      'workspace: {isolation: clone, setup: [in-setup]}',
    ].join('\n'),
  );
}

/** What a worker finds in its PATH: programs that kill it when they are started in its phase, and else do their work. */
function surroundings(where: Scratch, phase: string): Record<string, string> {
  const folder = join(where.root, phase);
  mkdirSync(folder);
  const program = (name: string, inPhase: boolean, line: string) => {
    const kill = `kill -9 "$(cat '${folder}/pid')"; sleep 1`;
    writeFileSync(join(folder, name), `#!/bin/sh\n${inPhase ? kill : ':'}\n${line}\n`, { mode: 0o755 });
  };
  program('in-setup', phase === 'setup', 'true');
  program('in-call', phase === 'call', 'head -c 700000 /dev/urandom | base64 -w 100');
  return { PATH: `${folder}:${process.env['PATH'] ?? ''}`, GEMINI_API_KEY: keyOf(phase) };
}

describe.each(QUEUE_SERVERS)('on %s', (kind) => {
  let queue: QueueServer;
  beforeAll(async () => {
    queue = await startQueueServer(kind);
  }, LONG);
  afterAll(() => queue.stop());

  test(
    'workers that are killed lose nothing, whatever they were doing',
    async () => {
      const phases = isThorough || kind === 'redis' ? PHASES : PHASES.slice(0, 1);
      const where = place({ 'a.ts': 'a\n' });
      commitAll(where);
      const file = phasesBatch(where, phases.length);
      const doomed = new Map<string, StartedProgram>();
      const kill = (phase: string) => void doomed.get(phase)?.child.kill('SIGKILL');
      const model = await serve((request) => {
        if (request.headers['x-goog-api-key'] === keyOf('turn') && turnOf(request) === 2) kill('turn');
        return turnOf(request) === 1
          ? { parts: [call('run_shell_command', { command: 'in-call' })] }
          : { parts: [text(`answer to ${promptOf(request)}`)] };
      });
      for (const phase of phases) {
        const line = await cutLine(queue.port);
        const far = { url: queue.url.replace(`:${queue.port}`, `:${line.port}`) };
        // Its result has three pieces.
        if (phase === 'pieces') line.whenSaid('"data":"', 2, () => kill(phase));
        const worker = startWorker(far, model, where, DOOMED, surroundings(where, phase));
        writeFileSync(join(where.root, phase, 'pid'), `${worker.child.pid}`);
        doomed.set(phase, worker);
        let told = '';
        worker.child.stderr?.on('data', (bytes: Buffer) => {
          told += String(bytes);
          if (told.includes(SAID[phase] ?? ' never ')) kill(phase);
        });
        await until(() => told.includes('takes tasks from'), `a worker for ${phase}`, LONG);
      }
      const running = coordinate(queue, model, where, [file]);
      const ends = await Promise.all([...doomed.values()].map(({ done }) => done));
      expect(ends.map(({ signal }) => signal)).toEqual(phases.map(() => 'SIGKILL'));
      employ(queue, model, where, ['--sandbox', 'off'], surroundings(where, 'none'));
      expect((await running).code).toBe(0);
      expect(resultsIn(where).map(({ id, response }) => [id, response])).toEqual(
        phases.map((_, i) => [`t${i}`, `answer to Do ${i}`]),
      );
      expect(journalled(where, 'task_end').filter(({ ended }) => ended)).toHaveLength(phases.length);
      // Each request was asked for before it was sent.
      expect(lastResult(where)).toMatchObject({ requests: model.requests.length, late_results: 0 });
      expect((await runCli(['verify', outOf(where)])).code).toBe(0);
    },
    2 * LONG,
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
      const lonely = employ(far, model, where, ['--concurrency', '2']);
      const running = coordinate(queue, model, where, ARGS);
      await until(() => requestsWhenCut > 0, 'the cut', LONG);
      // Longer than the lock: whoever still thinks that the tasks are its own would go on by now.
      await new Promise((resolve) => setTimeout(resolve, isThorough ? 30_000 : 7000));
      expect(model.requests.length).toBeLessThanOrEqual(requestsWhenCut + 1);
      employ(queue, model, where, ['--concurrency', '4']);
      expect((await running).code).toBe(0);
      line.heal();
      await expectWhole(where);
      lonely.stop();
      await lonely.done;
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
