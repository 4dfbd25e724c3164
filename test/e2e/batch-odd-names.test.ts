import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync } from 'node:fs';
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

const NAMES = [
  'src/plain.ts',
  'src/a b.ts',
  'src/-dash.ts',
  'src/ü ☃.ts',
  'src/q\'u"ote.ts',
  'src/new\nline.ts',
  'src/back\\slash.ts',
  'src/$HOME `x`.ts',
  'src/%2F.ts',
  'src/[id].ts',
  'src/{{file}}.ts',
];

const edits = (request: LoggedRequest) => {
  const [, file = ''] = /^<([^]*)>$/.exec(promptOf(request)) ?? [];
  if (turnOf(request) > 2) return { parts: [text('done')] };
  if (turnOf(request) === 1) return { parts: [call('read_file', { file_path: file })] };
  return { parts: [call('write_file', { file_path: file, content: 'changed\n' })] };
};

test('files and repositories may be called whatever the system lets them', async () => {
  const where = place(Object.fromEntries(NAMES.map((name) => [name, 'old\n'])));
  const workspace = join(where.root, 'a\nb', ' c\'"ü%20');
  mkdirSync(join(workspace, '..'));
  renameSync(where.workspace, workspace);
  const odd = { ...where, workspace };
  commitAll(odd);
  const server = await serve(edits);
  const file = batchFile(
    odd,
    `version: 1
name: odd
prompt: <{{file}}>
tasks: {glob: {include: ["src/*"]}}
policy: codemod
concurrency: 4
success: {require_changes: true}
integrate: apply
`,
  );
  const { code, stderr } = await runBatch(server, odd, [file]);
  const failed = resultsIn(odd).filter(({ status }) => status !== 'completed');
  expect({ code, failed, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, failed: [], stderr: '' });
  expect(
    resultsIn(odd)
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(NAMES.toSorted());
  for (const name of NAMES) expect(readFileSync(join(workspace, name), 'utf8')).toBe('changed\n');
  const status = execFileSync('git', ['status', '--porcelain', '-z'], { cwd: workspace, encoding: 'utf8' });
  expect(status.split('\0').filter(Boolean).toSorted()).toEqual(NAMES.map((name) => ` M ${name}`).toSorted());
  expect(await runCli(['verify', outOf(odd)])).toMatchObject({ code: 0 });
  expect(
    (await runCli(['batch', 'report', outOf(odd), '--reporter', `html=${join(odd.root, 'r.html')}`])).code,
  ).toBe(0);

  // The same again does nothing, and one of them again does one.
  const sent = server.requests.length;
  expect((await runBatch(server, odd, [file])).code).toBe(0);
  expect(server.requests).toHaveLength(sent);
  expect(lastResult(odd).tasks.skipped).toBe(NAMES.length);
  const again = await runBatch(server, odd, [
    file,
    '--only',
    'src/new\nline.ts',
    '--redo',
    'src/new\nline.ts',
  ]);
  expect([again.code, journalled(odd, 'task_start').at(-1)?.id]).toEqual([0, 'src/new\nline.ts']);
});
