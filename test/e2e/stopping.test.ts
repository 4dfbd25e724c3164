import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { verifyTranscript } from '../../src/transcript/verify.js';
import { bound } from '../helpers/bounds.js';
import { sampled } from '../helpers/counts.js';
import { call, text } from '../helpers/gemini-server.mjs';
import {
  BIN,
  eventsOf,
  ofType,
  resultOf,
  runArgs,
  serverEnv,
  startCli,
  type Scratch,
} from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { isAlive, until } from '../helpers/until.js';

const done = { parts: [text('Done.')] };
const SIGNALS = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 143],
] as const;

/** A command that is hard to end: it ignores SIGTERM, and has a child in a session of its own. */
const STUBBORN = `trap '' TERM; setsid sleep 60 & echo $! > child.pid; echo $$ > shell.pid; while :; do sleep 1; done`;

/** Commands tell their numbers here, which would be others in a sandbox. */
const BARE = ['--mode', 'yolo', '--sandbox', 'off'];

function pidIn(where: Scratch, name: string): number {
  return Number(readFileSync(join(where.workspace, name), 'utf8'));
}

describe.each(SIGNALS)('%s', (signal, code) => {
  test('during a request closes the connection, and the run is cancelled', async () => {
    const where = place();
    const server = await serve([{ hang: true }]);
    const { child, done: ended } = startCli(runArgs(where, ['-p', 'x', '-o', 'json']), {
      env: serverEnv(server, where),
    });
    await until(() => server.requests.length === 1, 'a request');
    child.kill(signal);
    const result = await ended;
    expect(result.code).toBe(code);
    expect(JSON.parse(result.stdout)).toMatchObject({ status: 'cancelled', reason: signal, exit_code: code });
    await until(() => server.requests[0]?.aborted === true, 'the connection to be closed');
    expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });
  });

  test('during a command ends its whole tree within three seconds', async () => {
    const where = place();
    const server = await serve([
      {
        parts: [
          call('run_shell_command', { command: STUBBORN }, { id: 'running' }),
          call('run_shell_command', { command: 'touch never' }, { id: 'queued' }),
        ],
      },
      done,
    ]);
    const args = runArgs(where, ['-p', 'x', ...BARE]);
    const { child, done: ended } = startCli(args, { env: serverEnv(server, where) });
    await until(() => existsSync(join(where.workspace, 'shell.pid')), 'the command to run');
    const started = performance.now();
    child.kill(signal);
    const result = await ended;
    expect(performance.now() - started).toBeLessThan(3000);
    expect(result.code).toBe(code);
    expect(isAlive(pidIn(where, 'shell.pid'))).toBe(false);
    expect(isAlive(pidIn(where, 'child.pid'))).toBe(false);
    const ends = ofType(eventsOf(where), 'tool_result').map((line) => [
      line.tool_id,
      line.status,
      line.error?.type,
    ]);
    expect(ends).toEqual([
      ['running', 'cancelled', 'cancelled'],
      ['queued', 'cancelled', 'cancelled'],
    ]);
    expect(existsSync(join(where.workspace, 'never'))).toBe(false);
    expect(server.requests).toHaveLength(1);
  });
});

test.each([
  ['SIGTERM', [], 143, 'SIGTERM'],
  ['the time limit', ['--timeout', '1500ms'], 6, 'time'],
])('%s while a turn is streaming lets no call of it start', async (what, args, code, reason) => {
  const where = place();
  const chunks = [[call('run_shell_command', { command: 'touch never' })], [text('and now the rest')]];
  const server = await serve([{ chunks, chunkDelayMs: 4000 }, done]);
  const { child, done: ended } = startCli(runArgs(where, ['-p', 'x', '--mode', 'yolo', ...args]), {
    env: serverEnv(server, where),
  });
  await until(() => server.requests.length === 1, 'a request');
  if (what === 'SIGTERM') child.kill('SIGTERM');
  expect((await ended).code).toBe(code);
  expect(resultOf(where).reason).toBe(reason);
  await until(() => server.requests[0]?.aborted === true, 'the connection to be closed');
  expect(eventsOf(where).map(({ type }) => type)).not.toContain('tool_use');
  expect(existsSync(join(where.workspace, 'never'))).toBe(false);
});

test('a command that is told to stop has two seconds to clean up', async () => {
  const where = place();
  const command = `trap 'sleep 0.6; echo clean > state; exit' TERM; touch begun; while :; do sleep 0.05; done`;
  const server = await serve([{ parts: [call('run_shell_command', { command })] }, done]);
  const { child, done: ended } = startCli(runArgs(where, ['-p', 'x', '--mode', 'yolo']), {
    env: serverEnv(server, where),
  });
  await until(() => existsSync(join(where.workspace, 'begun')), 'the command to run');
  child.kill('SIGINT');
  expect((await ended).code).toBe(130);
  expect(readFileSync(join(where.workspace, 'state'), 'utf8')).toBe('clean\n');
});

/** Git processes that work in a folder. */
function gitsIn(folder: string): number[] {
  const numbers = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return numbers.map(Number).filter((pid) => {
    try {
      const isThere = readlinkSync(`/proc/${pid}/cwd`) === folder;
      return isThere && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('update-index');
    } catch {
      return false;
    }
  });
}

test('a run that leaves at once leaves no git behind', async () => {
  const where = place();
  execFileSync('git', ['init', '-q', where.workspace]);
  // Git reads all of it to know what has changed, which takes minutes.
  const server = await serve([
    { parts: [call('run_shell_command', { command: 'truncate -s 300G huge' })] },
    done,
  ]);
  const args = runArgs(where, ['-p', 'x', ...BARE]);
  const { child, done: ended } = startCli(args, { env: serverEnv(server, where) });
  await until(() => gitsIn(where.workspace).length > 0, 'git to look at the file');
  child.kill('SIGTERM');
  child.kill('SIGINT');
  // Which of the two arrives first is not said.
  expect([130, 143]).toContain((await ended).code);
  await until(() => gitsIn(where.workspace).length === 0, 'git to be gone', 2000);
});

test('SIGTERM while waiting for stdin ends the run at once', async () => {
  const where = place();
  const { child, done: ended } = startCli(runArgs(where, []), {
    env: serverEnv({ url: 'http://127.0.0.1:9' }, where),
    openStdin: true,
  });
  await until(() => existsSync(where.transcript), 'the transcript to be opened');
  child.kill('SIGTERM');
  const { code } = await ended;
  expect([code, resultOf(where).status]).toEqual([143, 'cancelled']);
});

test('the time limit ends a running command', async () => {
  const where = place();
  const server = await serve([{ parts: [call('run_shell_command', { command: STUBBORN })] }, done]);
  const args = runArgs(where, ['-p', 'x', ...BARE, '--timeout', '1s']);
  const { code } = await startCli(args, { env: serverEnv(server, where) }).done;
  expect([code, resultOf(where).reason]).toEqual([6, 'time']);
  expect(isAlive(pidIn(where, 'shell.pid'))).toBe(false);
  expect(isAlive(pidIn(where, 'child.pid'))).toBe(false);
});

describe('a closed stdout', () => {
  test('stops a streaming run with 141', async () => {
    const where = place({ 'a.txt': 'A' });
    const server = await serve(() => ({ parts: [call('read_file', { file_path: 'a.txt' })], delayMs: 50 }));
    const script = `"$NODE" "$BIN" "$@" | head -n 1 > /dev/null; exit "\${PIPESTATUS[0]}"`;
    const args = runArgs(where, ['-p', 'x', '-o', 'stream-json']);
    const env = { ...serverEnv(server, where), NODE: process.execPath, BIN };
    const child = spawn('bash', ['-c', script, 'bash', ...args], { env, stdio: 'ignore' });
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(141);
    expect(resultOf(where)).toMatchObject({ status: 'cancelled', reason: 'stdout_closed', exit_code: 141 });
    expect(server.requests.length).toBeLessThan(10);
  });

  test.each(['text', 'json'])('is not success for %s either', async (format) => {
    const where = place();
    const server = await serve([{ parts: [text('x'.repeat(200_000))], delayMs: 300 }]);
    const script = `"$NODE" "$BIN" "$@" | true; exit "\${PIPESTATUS[0]}"`;
    const env = { ...serverEnv(server, where), NODE: process.execPath, BIN };
    const args = runArgs(where, ['-p', 'x', '-o', format]);
    const child = spawn('bash', ['-c', script, 'bash', ...args], { env, stdio: 'ignore' });
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(141);
  });
});

sampled.each(['text', 'json', 'stream-json'])('a slow reader gets 5 MB of %s whole', async (format) => {
  const where = place();
  const answer = 'x'.repeat(5_000_000);
  const server = await serve([{ parts: [text(answer)] }]);
  const script = `"$NODE" "$BIN" "$@" | (sleep 1; cat > "$OUT"); exit "\${PIPESTATUS[0]}"`;
  const OUT = join(where.root, 'out');
  const env = { ...serverEnv(server, where), NODE: process.execPath, BIN, OUT };
  const child = spawn('bash', ['-c', script, 'bash', ...runArgs(where, ['-p', 'x', '-o', format])], {
    env,
    stdio: 'ignore',
  });
  expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0);
  const out = readFileSync(OUT, 'utf8');
  const said =
    format === 'text'
      ? out.trimEnd()
      : (JSON.parse(out.trimEnd().split('\n').at(-1) as string) as { response: string }).response;
  expect(said.length).toBe(answer.length);
  expect(out.endsWith('\n')).toBe(true);
});

test('a background child that holds the pipe does not keep the process', async () => {
  const where = place();
  const server = await serve([
    {
      parts: [
        call('run_shell_command', { command: 'sleep 300 & setsid sleep 300 & echo $! > pid; echo started' }),
      ],
    },
    done,
  ]);
  const started = performance.now();
  const { code } = await startCli(runArgs(where, ['-p', 'x', ...BARE]), {
    env: serverEnv(server, where),
  }).done;
  expect(code).toBe(0);
  // It would be there for longer than a test may take.
  bound(performance.now() - started, 5000);
  expect(isAlive(pidIn(where, 'pid'))).toBe(false);
  const [result] = ofType(eventsOf(where), 'tool_result');
  expect(result?.process?.leftover_pids).toHaveLength(2);
  expect(result?.output).toContain('started');
});
