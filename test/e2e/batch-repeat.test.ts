import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import {
  batchFile,
  commitAll,
  journalled,
  lastResult,
  outOf,
  promptOf,
  resultsIn,
  runBatch,
  turnOf,
} from '../helpers/batch.js';
import { call, text, type LoggedRequest } from '../helpers/gemini-server.mjs';
import { runCli } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const BATCH = `version: 1
name: repeated
prompt: Change FILE={{file}}
tasks: {glob: {include: ["*.txt"]}}
policy: codemod
success: {require_changes: true}
repeat: {times: 3, min_passes: 2}
integrate: apply
`;

/** A model whose n-th run of a task passes if the letters of its file say so. */
function moody() {
  const runs = new Map<string, number>();
  return (request: LoggedRequest) => {
    const [, file = '', letters = ''] = /FILE=((\w+)\.txt)/.exec(promptOf(request)) ?? [];
    if (turnOf(request) > 1) return { parts: [text('done')] };
    const run = runs.get(file) ?? 0;
    runs.set(file, run + 1);
    if (letters[run] !== 'p') return { parts: [text('nothing to do')] };
    return { parts: [call('write_file', { file_path: file, content: `by run ${run + 1}\n` })] };
  };
}

test('a task that is repeated is completed if enough of its runs are, and stops once that is certain', async () => {
  const names = ['ffp.txt', 'fpp.txt', 'pfp.txt', 'ppf.txt'];
  const where = place(Object.fromEntries(names.map((name) => [name, 'as it was\n'])));
  commitAll(where);
  const server = await serve(moody());
  const file = batchFile(where, BATCH);
  const junit = join(where.root, 'junit.xml');
  const { code, stdout } = await runBatch(server, where, [file, '--reporter', `junit=${junit}`]);
  expect(code).toBe(13);
  expect(resultsIn(where).map(({ id, status, stability, runs }) => [id, status, stability, runs])).toEqual([
    ['ffp.txt', 'unverified', 'stable_fail', { passed: 0, failed: 2 }],
    ['fpp.txt', 'completed', 'flaky', { passed: 2, failed: 1 }],
    ['pfp.txt', 'completed', 'flaky', { passed: 2, failed: 1 }],
    ['ppf.txt', 'completed', 'stable_pass', { passed: 2, failed: 0 }],
  ]);
  expect(lastResult(where)).toMatchObject({
    tasks: { completed: 3, failed: 1, pending: 0 },
    stability: { stable_pass: 1, flaky: 2, stable_fail: 1 },
  });
  expect(
    journalled(where, 'task_start')
      .filter(({ id }) => id === 'ppf.txt')
      .map(({ run }) => run),
  ).toEqual([1, 2]);
  expect(stdout).toMatch(/^completed {2}fpp\.txt run 3/m);
  expect(stdout).toContain('2 flaky');
  expect(readFileSync(junit, 'utf8').match(/value="flaky"/g)).toHaveLength(2);
  // The patch of the first run that passed is the one that counts.
  expect(names.map((name) => readFileSync(join(where.workspace, name), 'utf8'))).toEqual([
    'as it was\n',
    'by run 2\n',
    'by run 1\n',
    'by run 1\n',
  ]);
  expect(await runCli(['verify', outOf(where)])).toMatchObject({ code: 0 });

  // Nothing is left to do, and more runs are only those that are missing.
  const requests = server.requests.length;
  expect((await runBatch(server, where, [file])).code).toBe(13);
  expect(server.requests.length).toBe(requests);
  const more = batchFile(where, BATCH.replace('times: 3', 'times: 4'));
  expect((await runBatch(server, where, [more])).code).toBe(13);
  expect(journalled(where, 'task_start').slice(-2)).toMatchObject([
    { id: 'ffp.txt', run: 3 },
    { id: 'ffp.txt', run: 4 },
  ]);
  expect(resultsIn(where)[0]).toMatchObject({ stability: 'flaky', runs: { passed: 1, failed: 3 } });
});

test('runs that a budget leaves no room for stay pending, and go on', async () => {
  const where = place({ 'ppp.txt': 'as it was\n' });
  commitAll(where);
  const server = await serve(moody());
  const once = BATCH.replace('integrate: apply', 'limits: {tokens: 220}');
  const short = await runBatch(server, where, [batchFile(where, once)]);
  expect([short.code, resultsIn(where)[0]]).toMatchObject([
    6,
    { status: 'pending', runs: { passed: 1, failed: 0 } },
  ]);
  expect((await runBatch(server, where, [batchFile(where, once.replace('220', '1000'))])).code).toBe(0);
  expect(journalled(where, 'task_start').map(({ run, attempt }) => [run, attempt])).toEqual([
    [1, 1],
    [2, 2],
  ]);
});

test('more passes than runs are exit 2 with their place', async () => {
  const where = place({ 'a.txt': '' });
  const server = await serve(() => ({ parts: [text('x')] }));
  const file = batchFile(where, BATCH.replace('min_passes: 2', 'min_passes: 4'));
  const { code, stderr } = await runBatch(server, where, [file]);
  expect([code, server.requests.length]).toEqual([2, 0]);
  expect(stderr).toContain(`${file}:7:20: 4 of 3 runs cannot pass`);
});
