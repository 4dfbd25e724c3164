import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { call, text } from '../helpers/gemini-server.mjs';
import { eventsOf, runAgainst, runCli, serverEnv } from '../helpers/run-cli.js';
import { bosunRun, place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const done = { parts: [text('Done.')] };

describe('verify', () => {
  test('of a file that is not there is exit 2: nothing was changed', async () => {
    const where = place();
    const { code, stderr } = await runCli(['verify', where.transcript]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('cannot be read')]);
    expect((await runCli(['verify', where.root])).code).toBe(2);
  });

  test('of several is 5 if one was changed', async () => {
    const where = place();
    writeFileSync(where.transcript, 'x\n');
    const missing = join(where.root, 'missing.jsonl');
    expect((await runCli(['verify', where.transcript, missing])).code).toBe(5);
    expect((await runCli(['verify', missing, where.transcript])).code).toBe(5);
  });
});

describe('a folder that does not exist is named, and not made', () => {
  test.each([
    ['--transcript', ''],
    ['--reporter', 'html='],
    ['--reporter', 'junit='],
  ])('%s %s…', async (flag, name) => {
    const where = place();
    const server = await serve([done]);
    const folder = join(where.root, 'mistyped');
    const args = ['run', '-C', where.workspace, '-m', 'gemini-test', '-p', 'x', flag, `${name}${folder}/x`];
    const { code, stderr } = await runCli(args, { env: serverEnv(server, where) });
    expect([code, stderr]).toEqual([2, expect.stringContaining(`the folder ${folder} does not exist`)]);
    expect([existsSync(folder), server.requests]).toEqual([false, []]);
  });

  test('but for our own', async () => {
    const where = place();
    const server = await serve([done]);
    const args = ['run', '-C', where.workspace, '-m', 'gemini-test', '-p', 'x'];
    expect((await runCli(args, { env: serverEnv(server, where) })).code).toBe(0);
    expect(readdirSync(join(where.workspace, '.bosun/runs')).sort()).toEqual([
      '.gitignore',
      expect.stringMatching(/^20/),
    ]);
  });
});

test('init, warnings and the task come in this order, and are written at once', async () => {
  const where = place();
  const file = join(where.root, 'policy.yaml');
  writeFileSync(file, 'version: 1\ncontext: {files: [missing.md]}\n');
  const server = await serve([done]);
  expect((await runAgainst(server, where, ['--policy', file, '-p', 'x'])).code).toBe(0);
  const [init, warning, task] = eventsOf(where);
  expect([init?.type, warning?.type, task?.type]).toEqual(['init', 'error', 'message']);
});

describe('the same chunk twice', () => {
  const append = (id?: string) =>
    call('run_shell_command', { command: 'echo x >> log; cat log' }, id ? { id } : {});

  test('is one call if its id says so', async () => {
    const script = [{ chunks: [[append('a')], [append('a')], [text('')]] }, done];
    const { code, server } = await bosunRun(script, ['--mode', 'yolo']);
    const contents = server.requests[1]?.body.contents as { parts: unknown[] }[];
    expect([code, contents.at(-1)?.parts.length]).toEqual([0, 1]);
  });

  test('is two calls if it has none', async () => {
    const script = [{ chunks: [[append()], [append()], [text('')]] }, done];
    const { code, server } = await bosunRun(script, ['--mode', 'yolo']);
    const contents = server.requests[1]?.body.contents as { parts: unknown[] }[];
    expect([code, contents.at(-1)?.parts.length]).toEqual([0, 2]);
  });
});
