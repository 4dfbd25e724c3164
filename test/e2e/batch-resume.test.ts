import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  batchFile,
  commitAll,
  journalled,
  outOf,
  promptOf,
  resultsIn,
  runBatch,
  startBatch,
  turnOf,
} from '../helpers/batch.js';
import { call, text, type LoggedRequest } from '../helpers/gemini-server.mjs';
import { runCli, type Scratch } from '../helpers/run-cli.js';
import { place, serve, type Server } from '../helpers/served.js';
import { until } from '../helpers/until.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

/** Starts a batch, and kills it once the server was asked so often. */
async function killAfter(requests: number, server: Server, where: Scratch, args: readonly string[]) {
  const { child, done } = startBatch(server, where, args);
  await until(() => server.requests.length >= requests, `${requests} requests`);
  child.kill('SIGKILL');
  await done;
}

const idOf = (request: LoggedRequest) => /task (\w+)/.exec(promptOf(request))?.[1] ?? '';

describe('a batch that was killed', () => {
  test('never gives two tasks one workspace, whichever prompt it goes on with', async () => {
    const where = place({ 'a.txt': 'a\n' });
    commitAll(where);
    let isStuck = true;
    const server = await serve((request) => {
      const id = idOf(request);
      if (turnOf(request) === 1)
        return { parts: [call('write_file', { file_path: `only-${id}.txt`, content: `${id}\n` })] };
      return isStuck ? { hang: true } : { parts: [text('done')], delayMs: 300 };
    });
    const file = (version: string, concurrency: number) =>
      batchFile(
        where,
        `version: 1
name: two
prompt: "${version}: task {{id}}"
tasks: {list: [{id: a}, {id: b}]}
policy: codemod
concurrency: ${concurrency}
`,
      );
    await killAfter(2, server, where, [file('v1', 1)]);
    await killAfter(4, server, where, [file('v2', 1)]);
    isStuck = false;
    const { code, stderr } = await runBatch(server, where, [file('v1', 2)]);
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    for (const { id, patch } of resultsIn(where))
      expect(readFileSync(join(outOf(where), patch ?? ''), 'utf8')).toMatch(
        new RegExp(`^diff --git a/only-${id}.txt b/only-${id}.txt\nnew file[^]*\\+${id}\n$`),
      );
    const used = journalled(where, 'task_start').slice(-2);
    expect(new Set(used.map(({ workspace }) => workspace)).size).toBe(2);
    expect(await runCli(['verify', outOf(where)])).toMatchObject({ code: 0 });
  });

  test('takes the answer to one prompt for that to no other', async () => {
    const where = place({ 'a.txt': 'a\n' });
    let isStuck = false;
    const server = await serve((request) =>
      isStuck ? { hang: true } : { parts: [text(`answer to ${promptOf(request)}`)] },
    );
    const tasks = join(where.root, 'tasks.jsonl');
    writeFileSync(tasks, '{"id":"a"}\n');
    const args = (word: string) => [
      ...['-p', `${word} {{id}}`, '--tasks', tasks, '--policy', 'read-only', '--name', 'one'],
    ];
    await runBatch(server, where, args('ONE'));
    // As if it had been killed in the middle of its run.
    cutTo(join(outOf(where), 'journal.jsonl'), 2);
    cutTo(join(outOf(where), 'tasks/a/1/transcript.jsonl'), 1);
    isStuck = true;
    await killAfter(2, server, where, args('TWO'));
    isStuck = false;
    for (const word of ['ONE', 'TWO', 'ONE', 'TWO']) {
      expect(await runBatch(server, where, args(word))).toMatchObject({ code: 0 });
      expect(resultsIn(where)).toMatchObject([{ status: 'completed', response: `answer to ${word} a` }]);
      expect(await runCli(['verify', outOf(where)])).toMatchObject({ code: 0 });
    }
    const keys = new Map<number, Set<string>>();
    for (const { attempt, key } of journalled(where, 'task_start'))
      keys.set(attempt, (keys.get(attempt) ?? new Set()).add(key));
    expect([...keys.values()].map(({ size }) => size)).toEqual(Array.from(keys, () => 1));
  });

  test('keeps what a run came to whose end the journal has not heard of', async () => {
    const where = place({ 'a.txt': 'a\n' });
    commitAll(where);
    const server = await serve((request) =>
      turnOf(request) === 1
        ? { parts: [call('write_file', { file_path: 'b.txt', content: 'b\n' })] }
        : { parts: [text('done')] },
    );
    const args = ['-p', 'Change {{file}}', '--each', '*.txt', '--policy', 'codemod', '--name', 'kept'];
    expect(await runBatch(server, where, args)).toMatchObject({ code: 0 });
    const [before] = resultsIn(where);
    cutTo(join(outOf(where), 'journal.jsonl'), 2);
    expect(await runBatch(server, where, args)).toMatchObject({ code: 0 });
    expect(server.requests).toHaveLength(2);
    expect(resultsIn(where)).toEqual([{ ...before, waited_ms: expect.any(Number) }]);
    expect(before).toMatchObject({ status: 'completed', attempts: 1, patch: 'tasks/a.txt/1/changes.patch' });
    expect(await runCli(['verify', outOf(where)])).toMatchObject({ code: 0 });

    // A machine that went down before the patch was flushed.
    cutTo(join(outOf(where), 'journal.jsonl'), 2);
    writeFileSync(join(outOf(where), 'tasks/a.txt/1/changes.patch'), '');
    expect(await runBatch(server, where, args)).toMatchObject({ code: 0 });
    expect(server.requests).toHaveLength(4);
    expect(resultsIn(where)).toMatchObject([
      { status: 'completed', attempts: 2, patch: 'tasks/a.txt/2/changes.patch' },
    ]);
  });

  test('says nothing of tasks as they were before', async () => {
    const where = place({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
    let isStuck = false;
    const server = await serve(() => (isStuck ? { hang: true } : { parts: [text('done')] }));
    const args = (prompt: string) => [
      ...['-p', `${prompt} {{file}}`, '--each', '*.txt', '--policy', 'read-only', '--name', 'stale'],
    ];
    expect(await runBatch(server, where, args('Read'))).toMatchObject({ code: 0 });
    const before = resultsIn(where);
    isStuck = true;
    await killAfter(3, server, where, args('Explain'));
    const now = resultsIn(where);
    expect(now.map(({ id, status }) => [id, status])).toEqual([
      ['a.txt', 'pending'],
      ['b.txt', 'pending'],
    ]);
    for (const [i, { key }] of now.entries()) expect(key).not.toBe(before[i]?.key);
  });
});

const batchOf = (setup: string) => `version: 1
name: setup
prompt: Explain {{file}}
tasks: {glob: {include: ["*.txt"]}}
policy: codemod
concurrency: 1
attempts: 1
workspace: {setup: ["${setup}"]}
`;
const talks = () => ({ parts: [text('done')] });
const PENDING = { status: 'pending', exit_code: null };

describe('a batch that is stopped before a run begins', () => {
  test('leaves a task pending whose setup was cut, by a signal or by the time of the batch', async () => {
    const where = place({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
    commitAll(where);
    const server = await serve(talks);
    const slow = batchFile(where, batchOf('sleep 600'));
    const { child, done } = startBatch(server, where, [slow]);
    await until(() => begun(where) === 1, 'a start');
    child.kill('SIGTERM');
    expect(await done).toMatchObject({ code: 143 });
    expect(resultsIn(where)).toMatchObject([{ ...PENDING, attempts: 1 }, PENDING]);
    expect(journalled(where, 'task_end')).toMatchObject([
      { ended: false, status: 'cancelled', reason: 'SIGTERM', attempt: 1, transcript: null },
    ]);

    expect(await runBatch(server, where, [slow, '--timeout', '1s'])).toMatchObject({ code: 6 });
    expect(resultsIn(where)).toMatchObject([{ ...PENDING, attempts: 1 }, PENDING]);

    expect(await runBatch(server, where, [batchFile(where, batchOf('true'))])).toMatchObject({ code: 0 });
    for (const result of resultsIn(where)) expect(result).toMatchObject({ status: 'completed', attempts: 1 });
    expect(await runCli(['verify', outOf(where)])).toMatchObject({ code: 0 });
  });

  test('leaves a task pending whose clone was being made', async () => {
    const where = place({ 'a.txt': 'a\n', '.gitattributes': 'a.txt filter=slow\n' });
    commitAll(where);
    const settings = join(where.home, '.gitconfig');
    writeFileSync(settings, '[filter "slow"]\n\tsmudge = "sleep 5; cat"\n\tclean = cat\n');
    const server = await serve(talks);
    const file = batchFile(where, batchOf('true'));
    const { child, done } = startBatch(server, where, [file]);
    await until(() => existsSync(join(outOf(where), 'workspaces/1/.git/index.lock')), 'a clone');
    child.kill('SIGTERM');
    expect(await done).toMatchObject({ code: 143 });
    expect(resultsIn(where)).toMatchObject([{ ...PENDING, attempts: 1 }]);
    expect(await runBatch(server, where, [file, '--timeout', '1s'])).toMatchObject({ code: 6 });
    rmSync(settings);
    expect(await runBatch(server, where, [file])).toMatchObject({ code: 0 });
    expect(resultsIn(where)).toMatchObject([{ status: 'completed', attempts: 1 }]);
  });
});

function begun(where: Scratch): number {
  return existsSync(join(outOf(where), 'journal.jsonl')) ? journalled(where, 'task_start').length : 0;
}

/** Leaves the first lines of a file. */
function cutTo(path: string, count: number): void {
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, count);
  writeFileSync(path, `${lines.join('\n')}\n`);
}
