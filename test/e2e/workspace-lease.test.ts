import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { call, text, type LoggedRequest } from '../helpers/gemini-server.mjs';
import {
  fileIn,
  resultOf,
  runAgainst,
  runArgs,
  serverEnv,
  startCli,
  type CliOptions,
  type Scratch,
} from '../helpers/run-cli.js';
import { bosunUnder, place, serve, type Server } from '../helpers/served.js';
import { until } from '../helpers/until.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const done = { parts: [text('Done.')] };
/** Not for ever: a test that fails leaves nobody who would end it. */
const WAITS = 'echo begun >> log; n=0; until [ -e go ] || [ $n -gt 2000 ]; do n=$((n+1)); sleep 0.02; done';

/** A model that waits in a call if the prompt is `wait`, and is done at once if it is anything else. */
function script({ body }: LoggedRequest) {
  const { contents } = body as { contents: { parts: { text?: string }[] }[] };
  const waits = contents.length === 1 && contents[0]?.parts[0]?.text === 'wait';
  return waits ? { parts: [call('run_shell_command', { command: WAITS })] } : done;
}

/** The same workspace, with a transcript of its own. */
const beside = (where: Scratch, name: string): Scratch => ({ ...where, transcript: join(where.root, name) });

async function first(server: Server, where: Scratch, options: CliOptions = {}) {
  const args = runArgs(where, ['-p', 'wait', '--mode', 'yolo']);
  const started = startCli(args, { ...options, env: serverEnv(server, where) });
  await until(() => fileIn(where, 'log') !== undefined, 'the call');
  return started;
}

const go = (where: Scratch) => writeFileSync(join(where.workspace, 'go'), '');
const second = (server: Server, where: Scratch, args: readonly string[], options: CliOptions = {}) =>
  runAgainst(server, beside(where, 'second.jsonl'), ['-p', 'x', ...args], options);
const leaseIn = (where: Scratch) => join(where.workspace, '.bosun/runs/workspace.lock');

test('a second run that may change something is told who works there, and nothing is asked', async () => {
  const where = place();
  const server = await serve(script);
  const { child, done: ended } = await first(server, where);
  const { code, stderr } = await second(server, where, ['--mode', 'auto_edit']);
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(
      new RegExp(
        `another run works in ${where.workspace}: run [\\dT]+-[0-9a-f]+ \\(pid ${child.pid} on .*, since 20.*Z\\).*--wait 10m`,
      ),
    ),
  ]);
  expect(resultOf(beside(where, 'second.jsonl'))).toMatchObject({
    status: 'config_error',
    reason: 'workspace_busy',
  });
  go(where);
  expect((await ended).code).toBe(0);
  expect(server.requests).toHaveLength(2);
  expect(readdirSync(where.workspace).sort()).toEqual(['go', 'log']);
  expect((await second(server, where, ['--mode', 'auto_edit'])).code).toBe(0);
});

test('with --wait it waits, says so, and its time does not count', async () => {
  const where = place();
  const server = await serve(script);
  const { done: ended } = await first(server, where);
  const args = runArgs(beside(where, 'second.jsonl'), [
    '-p',
    'x',
    '--mode',
    'yolo',
    '--wait',
    '60s',
    '--timeout',
    '5s',
  ]);
  const waiting = startCli(args, { env: serverEnv(server, where) });
  let told = '';
  waiting.child.stderr?.on('data', (chunk: string) => (told += chunk));
  await until(() => told.includes('waiting up to 1m 00s for'), 'the wait');
  expect(server.requests).toHaveLength(1);
  go(where);
  expect((await ended).code).toBe(0);
  expect((await waiting.done).code).toBe(0);
});

test('a wait ends when its time is over, and when somebody wants it to', async () => {
  const where = place();
  const server = await serve(script);
  const { done: ended } = await first(server, where);
  const late = await second(server, where, ['--mode', 'yolo'], { env: { BOSUN_WAIT: '300ms' } });
  expect([late.code, late.stderr]).toEqual([2, expect.stringContaining('another run works in')]);
  const args = runArgs(beside(where, 'third.jsonl'), ['-p', 'x', '--mode', 'yolo', '--wait', '1h']);
  const waiting = startCli(args, { env: serverEnv(server, where) });
  let told = '';
  waiting.child.stderr?.on('data', (chunk: string) => (told += chunk));
  await until(() => told.includes('waiting up to 60m 00s for'), 'the wait');
  waiting.child.kill('SIGINT');
  expect((await waiting.done).code).toBe(130);
  go(where);
  expect((await ended).code).toBe(0);
});

test('the lease of a killed run is taken over at once', async () => {
  const where = place();
  const server = await serve(script);
  const { child, done: ended } = await first(server, where);
  child.kill('SIGKILL');
  await ended;
  go(where);
  expect(existsSync(leaseIn(where))).toBe(true);
  expect((await second(server, where, ['--mode', 'yolo'])).code).toBe(0);
  expect(existsSync(leaseIn(where))).toBe(false);
});

const NAMESPACE = ['unshare', '-Urpf', '--mount-proc'];
const canUnshare = spawnSync('unshare', ['-Urpf', '--mount-proc', 'true']).status === 0;

(canUnshare ? test : test.skip)(
  'a run in another container is honoured, dead or alive, until its time is over',
  async () => {
    const where = place();
    const server = await serve(script);
    const { done: ended } = await first(server, where, { launcher: NAMESPACE });
    expect((await second(server, where, ['--mode', 'yolo'])).stderr).toContain('(pid 1 on ');
    go(where);
    expect((await ended).code).toBe(0);
    expect((await second(server, where, ['--mode', 'yolo'])).code).toBe(0);
  },
);

test('a lease of another machine counts for a minute after it was last heard of', async () => {
  const where = place();
  const server = await serve(script);
  mkdirSync(join(where.workspace, '.bosun/runs'), { recursive: true });
  const record = {
    pid: 7,
    where: 'another boot',
    host: 'far',
    id: 'x',
    name: 'run 1',
    number: 4,
    since: 'noon',
  };
  writeFileSync(leaseIn(where), JSON.stringify(record));
  const { code, stderr } = await second(server, where, ['--mode', 'yolo']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('run 1 (pid 7 on far, since noon)')]);
  const time = Date.now() / 1000 - 61;
  utimesSync(leaseIn(where), time, time);
  expect((await second(server, where, ['--mode', 'yolo'])).code).toBe(0);
});

describe('runs that only look', () => {
  test.each([[['--mode', 'plan']], [['--policy', 'read-only']], [['--mode', 'yolo', '--dry-run']]])(
    'share the workspace: %j',
    async (args) => {
      const where = place();
      const server = await serve(script);
      const { done: ended } = await first(server, where);
      expect((await second(server, where, args)).code).toBe(0);
      go(where);
      expect((await ended).code).toBe(0);
    },
  );

  test('but not if they say what has changed', async () => {
    const where = place();
    const server = await serve(script);
    const { done: ended } = await first(server, where);
    for (const args of [['--require-changes'], ['--patch-out', join(where.root, 'x.patch')]])
      expect((await second(server, where, args)).code).toBe(2);
    go(where);
    expect((await ended).code).toBe(0);
  });
});

test('a run that a command cleans up behind keeps its lease', async () => {
  const where = place();
  const clean = call('run_shell_command', { command: 'rm -rf .bosun' });
  const look = call('run_shell_command', { command: 'ls .bosun/runs' });
  const server = await serve([{ parts: [clean] }, { parts: [look] }, done]);
  expect((await runAgainst(server, where, ['-p', 'x', '--mode', 'yolo'])).code).toBe(0);
  expect(JSON.stringify(server.requests[2]?.body)).toContain('workspace.lock');
  expect(readdirSync(where.workspace)).toEqual([]);
});

test('a link that somebody committed is not followed', async () => {
  const where = place();
  mkdirSync(join(where.root, 'elsewhere'));
  symlinkSync('../elsewhere', join(where.workspace, '.bosun'));
  const server = await serve([done]);
  const { code, stderr } = await runAgainst(server, where, ['-p', 'x', '--mode', 'yolo']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('a part of it is a symbolic link')]);
  expect(readdirSync(join(where.root, 'elsewhere'))).toEqual([]);
});

test('a policy that allows commands in plan mode may change something', async () => {
  const where = place();
  const policy =
    'version: 1\nmode: plan\nrules:\n  - {id: tests, reason: tests, tool: run_shell_command, command: [npm test], decision: allow}\n';
  mkdirSync(join(where.workspace, '.bosun/runs'), { recursive: true });
  writeFileSync(leaseIn(where), JSON.stringify({ pid: 7, where: 'far', name: 'run 1', number: 1 }));
  const { code, stderr } = await bosunUnder(policy, [done], [], where);
  expect([code, stderr]).toEqual([2, expect.stringContaining('run 1 (pid 7)')]);
  expect(readFileSync(leaseIn(where), 'utf8')).toContain('run 1');
});
