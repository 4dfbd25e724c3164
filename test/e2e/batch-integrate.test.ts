import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import {
  batchFile,
  commitAll,
  journalled,
  outOf,
  promptOf,
  resultsIn,
  runBatch,
  turnOf,
  writeIn,
} from '../helpers/batch.js';
import { call, text, type LoggedRequest } from '../helpers/gemini-server.mjs';
import type { Scratch } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const lines = (names: string) => `${[...names].join('\n')}\n`;
const FILES = { 'shared.txt': lines('abcdefghijklmnopqrstuvwxyz'), 'old.txt': 'old\n' };
const BATCH = `version: 1
name: apply
prompt: Do {{id}}
tasks: {list: [{id: first}, {id: second}, {id: clash}, {id: files}]}
policy: codemod
integrate: apply
`;

/** Two tasks change the shared file in different places, a third one where the first did. */
const edits = (request: LoggedRequest) => {
  if (turnOf(request) > 1) return { parts: [text('done')] };
  const replace = (old_string: string, new_string: string) =>
    call('replace', { file_path: 'shared.txt', old_string, new_string });
  if (promptOf(request).includes('first')) return { parts: [replace('b\nc', 'B\nc')] };
  if (promptOf(request).includes('second')) return { parts: [replace('x\ny', 'x\nY')] };
  if (promptOf(request).includes('clash')) return { parts: [replace('b\nc', 'beta\nc')] };
  return { parts: [call('write_file', { file_path: 'new.txt', content: 'new\n' })] };
};

const git = (where: Scratch, ...args: string[]) =>
  execFileSync('git', args, { cwd: where.workspace, encoding: 'utf8' });
const shared = (where: Scratch) => readFileSync(join(where.workspace, 'shared.txt'), 'utf8');

test('patches go onto the tree in task order, whole or not at all; a conflict is the outcome of its task', async () => {
  const where = place(FILES);
  commitAll(where);
  const objects = git(where, 'count-objects');
  const server = await serve(edits);
  const { code } = await runBatch(server, where, [batchFile(where, BATCH)]);
  expect(code).toBe(13);
  const merged = lines('abcdefghijklmnopqrstuvwxyz').replace('b', 'B').replace('y', 'Y');
  expect(shared(where)).toBe(merged);
  expect(readFileSync(join(where.workspace, 'new.txt'), 'utf8')).toBe('new\n');
  const [first, , clash] = resultsIn(where);
  expect(first?.status).toBe('completed');
  expect(clash).toMatchObject({ id: 'clash', status: 'unverified', exit_code: 5, reason: 'conflict' });
  expect(clash?.patch).not.toBeNull();
  expect(git(where, 'status', '--porcelain')).toBe(' M shared.txt\n?? new.txt\n');
  expect(git(where, 'count-objects')).toBe(objects);

  // The same command again applies nothing twice, and takes its own changes for none.
  const asked = server.requests.length;
  expect((await runBatch(server, where, [batchFile(where, BATCH)])).code).toBe(13);
  expect([shared(where), server.requests.length]).toEqual([merged, asked]);
  expect(journalled(where, 'batch_notice').filter(({ code: kind }) => kind === 'applied')).toHaveLength(3);
});

test('a tree with changes of somebody else is exit 2 before any request', async () => {
  const where = place(FILES);
  commitAll(where);
  writeIn(where, 'old.txt', 'mine\n');
  const server = await serve(edits);
  const { code, stderr } = await runBatch(server, where, [batchFile(where, BATCH)]);
  expect([code, server.requests.length]).toEqual([2, 0]);
  expect(stderr).toMatch(/batch\.yaml:\d+:1: integrate: apply needs a clean tree, and old\.txt has changed/);
});

test('a file that somebody changes meanwhile is left alone', async () => {
  const where = place(FILES);
  commitAll(where);
  const server = await serve((request) => {
    // While the tasks run.
    writeFileSync(join(where.workspace, 'shared.txt'), 'mine\n');
    return edits(request);
  });
  const { code } = await runBatch(server, where, [batchFile(where, BATCH)]);
  expect(code).toBe(13);
  expect(shared(where)).toBe('mine\n');
  expect(resultsIn(where).map(({ reason }) => reason)).toEqual(['conflict', 'conflict', 'conflict', null]);
});

test('nothing is applied while a task is pending', async () => {
  const where = place(FILES);
  commitAll(where);
  const server = await serve(edits);
  const { code } = await runBatch(server, where, [batchFile(where, BATCH), '--only', 'first']);
  expect(code).toBe(0);
  expect(shared(where)).toBe(FILES['shared.txt']);
});

test('a patch that was being applied when the process was killed is finished first', async () => {
  const where = place(FILES);
  commitAll(where);
  const server = await serve(edits);
  const file = batchFile(where, BATCH.replace(/\[.*\]/, '[{id: first}, {id: files}]'));
  expect((await runBatch(server, where, [file])).code).toBe(0);
  // As if the last patch had only been begun: its file is there or not.
  const path = join(outOf(where), 'journal.jsonl');
  const whole = readFileSync(path, 'utf8').split('\n');
  const kept = whole.slice(
    0,
    whole.findLastIndex((line) => line.includes('"code":"applied"')),
  );
  for (const isThere of [true, false]) {
    writeFileSync(path, `${kept.join('\n')}\n`);
    if (!isThere) rmSync(join(where.workspace, 'new.txt'));
    expect((await runBatch(server, where, [file])).code).toBe(0);
    expect(readFileSync(join(where.workspace, 'new.txt'), 'utf8')).toBe('new\n');
    const applied = journalled(where, 'batch_notice').filter(({ code }) => code === 'applied');
    expect(applied.map(({ task }) => task)).toEqual(['first', 'files']);
  }
});

test('a file whose name is a pattern, and a link, take their patches like any other', async () => {
  const where = place({ 'pages/[Id].ts': 'old\n', 'pages/I.ts': 'i\n', 'a.txt': 'a\n', 'b.txt': 'b\n' });
  symlinkSync('a.txt', join(where.workspace, 'link'));
  commitAll(where);
  const server = await serve((request) => {
    if (turnOf(request) > 1) return { parts: [text('done')] };
    const write = (file_path: string) => call('write_file', { file_path, content: 'new\n' });
    if (promptOf(request).includes('page')) return { parts: [write('pages/[Id].ts')] };
    return { parts: [call('run_shell_command', { command: 'ln -sfn b.txt link' })] };
  });
  writeFileSync(
    join(where.workspace, '../links.yaml'),
    `version: 1
mode: auto_edit
rules: [{id: links, tool: run_shell_command, command: ln, decision: allow}]
`,
  );
  const batch = `version: 1
name: names
prompt: Do {{id}}
tasks: {list: [{id: page}, {id: link}]}
policy: ${join(where.workspace, '../links.yaml')}
integrate: apply
`;
  const { code } = await runBatch(server, where, [batchFile(where, batch)]);
  expect([code, resultsIn(where).map(({ status, reason }) => [status, reason])]).toEqual([
    0,
    [
      ['completed', null],
      ['completed', null],
    ],
  ]);
  expect(readFileSync(join(where.workspace, 'pages/[Id].ts'), 'utf8')).toBe('new\n');
  expect(readFileSync(join(where.workspace, 'pages/I.ts'), 'utf8')).toBe('i\n');
  expect(readlinkSync(join(where.workspace, 'link'))).toBe('b.txt');
});
