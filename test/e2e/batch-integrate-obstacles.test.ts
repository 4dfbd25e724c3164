import { execFileSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { batchFile, commitAll, promptOf, resultsIn, runBatch, turnOf, writeIn } from '../helpers/batch.js';
import { call, text, type LoggedRequest } from '../helpers/gemini-server.mjs';
import type { Scratch } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

/** Each task writes the path that its id is. */
const write = (request: LoggedRequest) => {
  if (turnOf(request) > 1) return { parts: [text('done')] };
  const [, file_path, content] = /Write (\S+) (\S+)/.exec(promptOf(request)) ?? [];
  return { parts: [call('write_file', { file_path, content: `${content}\n` })] };
};

const batchOf = (...tasks: [id: string, target: string, content?: string][]) => `version: 1
name: obstacles
prompt: Write {{target}} {{content}}
tasks: {list: ${JSON.stringify(tasks.map(([id, target, content = 'new']) => ({ id, target, content })))}}
policy: codemod
integrate: apply
`;

const at = (where: Scratch, path: string) => join(where.workspace, path);
const contentOf = (where: Scratch, path: string) => readFileSync(at(where, path), 'utf8');

test('what is in the way of a patch and not of the repository stays, and is a conflict', async () => {
  const where = place({ 'a.md': 'a\n' });
  commitAll(where);
  writeIn(where, 'notes', 'mine\n');
  writeIn(where, 'folder/data', 'mine\n');
  mkdirSync(at(where, 'empty'));
  writeIn(where, 'file.txt', 'mine\n');
  mkdirSync(join(where.root, 'elsewhere'));
  symlinkSync('../elsewhere', at(where, 'link'));
  const server = await serve(write);
  const batch = batchOf(
    ['parent', 'notes/x.txt'],
    ['folder', 'folder'],
    ['empty', 'empty'],
    ['linked', 'link/y.txt'],
    ['differs', 'file.txt'],
    ['fits', 'deep/down/z.txt'],
  );
  const { code, stdout } = await runBatch(server, where, [batchFile(where, batch)]);
  expect([code, resultsIn(where).map(({ reason }) => reason)]).toEqual([
    13,
    [...Array<string>(5).fill('conflict'), null],
  ]);
  expect(stdout).toContain(
    'notes is a file, and the patch needs a folder there; it is kept in tasks/parent/1/',
  );
  expect(resultsIn(where)[0]?.error?.hint).toContain('git apply --3way');
  expect(resultsIn(where).map(({ error }) => error?.message.replace(/;.*/, ''))).toEqual([
    'its patch does not apply: notes is a file, and the patch needs a folder there',
    'its patch does not apply: folder is a folder, and the patch needs a file there',
    'its patch does not apply: empty is a folder, and the patch needs a file there',
    'its patch does not apply: link is a link, and the patch needs a folder there',
    'its patch does not apply: there is already a file.txt that git does not track',
    undefined,
  ]);
  expect([contentOf(where, 'notes'), contentOf(where, 'folder/data'), contentOf(where, 'file.txt')]).toEqual(
    Array(3).fill('mine\n'),
  );
  expect(readlinkSync(at(where, 'link'))).toBe('../elsewhere');
  expect([...readdirSync(join(where.root, 'elsewhere')), ...readdirSync(at(where, 'empty'))]).toEqual([]);
  expect(contentOf(where, 'deep/down/z.txt')).toBe('new\n');
});

test('two tasks that add the same file agree if it is the same', async () => {
  const where = place({ 'a.md': 'a\n' });
  commitAll(where);
  const server = await serve(write);
  const batch = batchOf(['one', 'new.txt', 'same'], ['two', 'new.txt', 'same'], ['three', 'new.txt', 'else']);
  const { code } = await runBatch(server, where, [batchFile(where, batch)]);
  const results = resultsIn(where);
  expect([code, results.map(({ reason }) => reason)]).toEqual([13, [null, null, 'conflict']]);
  expect(results[2]?.error?.message).toBe(
    'its patch does not apply: new.txt has other changes in the same place; it is kept in tasks/three/1/changes.patch',
  );
  expect(contentOf(where, 'new.txt')).toBe('same\n');
});

test('a file becomes a folder, a folder a file, and a file is removed', async () => {
  const where = place({ thing: 'a\n', 'dir/x.txt': 'x\n', 'gone/away.txt': 'x\n', 'a.md': 'a\n' });
  commitAll(where);
  const server = await serve((request) => {
    if (turnOf(request) > 1) return { parts: [text('done')] };
    const command = 'rm thing && rm -r dir gone && mkdir thing && cp a.md thing/in && cp a.md dir';
    return { parts: [call('run_shell_command', { command })] };
  });
  const policy = join(where.root, 'shell.yaml');
  writeIn(
    where,
    '../shell.yaml',
    'version: 1\nmode: auto_edit\nrules: [{id: all, tool: run_shell_command, command: [rm, mkdir, cp], decision: allow}]\n',
  );
  const batch = batchOf(['one', 'x']).replace('policy: codemod', `policy: ${policy}`);
  const run = () => runBatch(server, where, [batchFile(where, batch)]);
  expect((await run()).code).toBe(0);
  const look = () => [
    contentOf(where, 'thing/in'),
    contentOf(where, 'dir'),
    lstatSync(at(where, 'gone'), { throwIfNoEntry: false }),
  ];
  expect(look()).toEqual(['a\n', 'a\n', undefined]);
  expect((await run()).code).toBe(0);
  expect(look()).toEqual(['a\n', 'a\n', undefined]);
});

test('a tracked file that is in the way is a conflict, too', async () => {
  const where = place({ 'a.md': 'a\n' });
  commitAll(where);
  const server = await serve(write);
  const batch = batchOf(['file', 'thing'], ['below', 'thing/in.txt'], ['over', 'a.md', 'b']);
  const { code } = await runBatch(server, where, [batchFile(where, batch)]);
  expect([code, resultsIn(where).map(({ reason }) => reason)]).toEqual([13, [null, 'conflict', null]]);
  expect([contentOf(where, 'thing'), contentOf(where, 'a.md')]).toEqual(['new\n', 'b\n']);
});

test('a repository whose path git would split takes patches', async () => {
  const where = place({ 'a.md': 'a\n' });
  commitAll(where);
  const workspace = join(where.root, 'a:b "c"');
  renameSync(where.workspace, workspace);
  const moved = { ...where, workspace };
  const server = await serve(write);
  const { code } = await runBatch(server, moved, [batchFile(where, batchOf(['one', 'new.txt']))]);
  expect([code, contentOf(moved, 'new.txt')]).toEqual([0, 'new\n']);
  expect(execFileSync('git', ['fsck'], { cwd: workspace, encoding: 'utf8', stdio: 'pipe' })).not.toContain(
    'missing',
  );
});
