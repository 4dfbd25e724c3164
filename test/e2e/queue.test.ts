import { existsSync, readFileSync } from 'node:fs';
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
  writeIn,
} from '../helpers/batch.js';
import { coordinate, employ, startWorker } from '../helpers/fleet.js';
import { call, text, type LoggedRequest } from '../helpers/gemini-server.mjs';
import { QUEUE_SERVERS, startQueueServer, testOn, type QueueServer } from '../helpers/queue-server.js';
import { runCli, type Scratch } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const names = Array.from({ length: 6 }, (_, i) => `src/${i}.ts`);
const ARGS = ['-p', 'Explain {{file}}', '--each', 'src/*.ts', '--name', 'each', '--policy', 'read-only'];
const answers = (request: LoggedRequest) => ({ parts: [text(`answer to ${promptOf(request)}`)] });

function repository(): Scratch {
  const where = place(Object.fromEntries(names.map((name) => [name, `${name}\n`])));
  commitAll(where);
  return where;
}

describe.each(QUEUE_SERVERS)('a queue on %s', (kind) => {
  let queue: QueueServer;
  beforeAll(async () => {
    queue = await startQueueServer(kind);
  }, 120_000);
  afterAll(() => queue.stop());

  test('is worked off by workers elsewhere, and all comes back into the folder', async () => {
    const where = repository();
    const model = await serve(answers);
    const { child, done } = startWorker(queue, model, where, ['--concurrency', '2']);
    const beside = employ(queue, model, where, ['--concurrency', '2']);
    const { code, stderr, stdout } = await coordinate(queue, model, where, ARGS);
    expect([code, stderr, stdout.split('\n').length]).toEqual([0, expect.anything(), expect.any(Number)]);
    expect(resultsIn(where).map(({ id, status, response }) => [id, status, response])).toEqual(
      names.map((name) => [name, 'completed', `answer to Explain ${name}`]),
    );
    expect(model.requests).toHaveLength(6);
    expect(lastResult(where)).toMatchObject({ requests: 6, late_results: 0, tasks: { completed: 6 } });
    expect(journalled(where, 'task_start').every(({ worker }) => (worker ?? '') !== '')).toBe(true);
    expect((await runCli(['verify', outOf(where)])).code).toBe(0);

    child.kill('SIGTERM');
    beside.stop();
    expect((await Promise.all([done, beside.done])).map((end) => end.code)).toEqual([0, 0]);
    const again = await coordinate(queue, model, where, ARGS);
    expect([again.code, model.requests.length]).toEqual([0, 6]);
  });

  test('has a place for each task, also where several have the same orders', async () => {
    const where = repository();
    const model = await serve(answers);
    const file = batchFile(
      where,
      'version: 1\nname: same\nprompt: Do it\ntasks: {list: [{id: a}, {id: b}, {id: c/../a}]}\npolicy: [read-only]\n',
    );
    employ(queue, model, where);
    expect((await coordinate(queue, model, where, [file])).code).toBe(0);
    expect(resultsIn(where).map(({ id, status }) => [id, status])).toEqual(
      ['a', 'b', 'c/../a'].map((id) => [id, 'completed']),
    );
  });

  testOn('postgres', kind)('brings patches back, and a worker ends when nothing is left', async () => {
    const where = repository();
    writeIn(where, 'README.md', 'x\n');
    commitAll(where);
    const model = await serve((request) =>
      turnOf(request) === 1
        ? { parts: [call('write_file', { file_path: 'new.txt', content: promptOf(request) })] }
        : { parts: [text('done')] },
    );
    const args = [
      '-p',
      'Change {{file}}',
      '--each',
      'src/[01].ts',
      '--name',
      'change',
      '--mode',
      'auto_edit',
    ];
    const running = coordinate(queue, model, where, args);
    await new Promise((resolve) => setTimeout(resolve, 0));
    const worker = employ(queue, model, where);
    const { code } = await running;
    expect(code).toBe(0);
    for (const { patch, id } of resultsIn(where))
      expect(readFileSync(join(outOf(where), patch ?? ''), 'utf8')).toContain(`+Change ${id}`);
    expect(existsSync(join(where.workspace, 'new.txt'))).toBe(false);
    worker.stop();
    expect((await worker.done).code).toBe(0);
    expect((await employ(queue, model, where, ['--until-empty']).done).code).toBe(0);
  });
});
