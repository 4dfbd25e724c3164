import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { killAllCommands } from '../../src/sandbox/groups.js';
import { run } from '../helpers/processes.js';
import { isAlive, until } from '../helpers/until.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

describe('time', () => {
  test('is up for a command that talks for ever', async () => {
    const end = await run('while :; do echo x; sleep 0.02; done', { timeoutMs: 300 });
    expect(end).toMatchObject({ stopped: 'timeout', exitCode: null, signal: 'SIGTERM' });
    expect(end.output).toMatch(/^(x\n)+/);
    expect(end.ms).toBeLessThan(3000);
  });

  test('is up for a command that fell silent, and what it said before is kept', async () => {
    const end = await run('echo before; sleep 60', { idleTimeoutMs: 250 });
    expect(end).toMatchObject({ stopped: 'idle_timeout', output: 'before\n' });
    expect(end.ms).toBeLessThan(3000);
  });

  test('is not up while output keeps coming', async () => {
    const end = await run('for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.1; done', { idleTimeoutMs: 600 });
    expect(end.ms).toBeGreaterThan(600);
    expect(end.exitCode).toBe(0);
    expect(end).not.toHaveProperty('stopped');
  });

  test.each([2 ** 31, Infinity])('is not up at once when there is plenty of it: %p ms', async (ms) => {
    const end = await run('sleep 0.2; echo done', { timeoutMs: ms, idleTimeoutMs: ms });
    expect(end).toMatchObject({ exitCode: 0, output: 'done\n' });
    expect(end).not.toHaveProperty('stopped');
  });

  test('does not run on after the command has ended by itself', async () => {
    // What is left ignores SIGTERM, so that clearing up takes longer than the idle timeout.
    const end = await run(`trap '' TERM; sleep 60 & exit 0`, { idleTimeoutMs: 300 });
    expect(end.exitCode).toBe(0);
    expect(end).not.toHaveProperty('stopped');
    expect(end.leftovers).toHaveLength(1);
  });
});

describe('a command that is stopped', () => {
  test('may tidy up', async () => {
    const end = await run(`trap 'echo tidied; exit 3' TERM; echo ready; while :; do sleep 0.02; done`, {
      timeoutMs: 300,
    });
    expect(end).toMatchObject({ stopped: 'timeout', exitCode: 3 });
    expect(end.output).toMatch(/^ready\n[^]*tidied\n$/);
  });

  test('is killed if it does not listen', async () => {
    const end = await run(`trap '' TERM; echo $$; while :; do sleep 0.02; done`, { timeoutMs: 200 });
    expect(end).toMatchObject({ stopped: 'timeout', signal: 'SIGKILL' });
    expect(isAlive(Number(end.output))).toBe(false);
    expect(end.ms).toBeLessThan(3000);
  });

  test('takes its whole tree along: children, those that left the group or emptied their environment, and those that ignore it', async () => {
    const command = [
      'sleep 61 & echo $! >> pids',
      'setsid sleep 62 & echo $! >> pids',
      `setsid bash -c 'trap "" TERM; echo $$ >> pids; while :; do sleep 0.05; done' &`,
      `env -i PATH="$PATH" setsid bash -c 'trap "" TERM; echo $$ >> pids; while :; do sleep 0.05; done' &`,
      `(setsid bash -c '(sleep 63 & echo $! >> pids)' &)`,
      'echo $$ >> pids; wait; sleep 60',
    ].join('\n');
    const abort = new AbortController();
    const running = run(command, { signal: abort.signal, directory: ws.path() });
    const pids = () =>
      existsSync(ws.path('pids')) ? ws.text('pids').trim().split('\n').map(Number) : ([] as number[]);
    await until(() => pids().length === 6 && pids().every((pid) => isAlive(pid)), 'six processes');

    const asked = performance.now();
    abort.abort();
    const end = await running;
    expect(performance.now() - asked).toBeLessThan(3000);
    expect(end).toMatchObject({ stopped: 'aborted' });
    expect(pids().filter((pid) => isAlive(pid))).toEqual([]);
  });

  test('before it began leaves nothing running', async () => {
    const end = await run('echo $$ > pid; sleep 60', { signal: AbortSignal.abort(), directory: ws.path() });
    expect(end).toMatchObject({ stopped: 'aborted' });
    expect(end.ms).toBeLessThan(3000);
    if (existsSync(ws.path('pid'))) expect(isAlive(Number(ws.text('pid')))).toBe(false);
  });

  test('by an abort after a timeout still counts as timed out', async () => {
    const abort = new AbortController();
    const running = run(`trap 'echo told' TERM; while :; do sleep 0.02; done`, {
      signal: abort.signal,
      timeoutMs: 250,
      directory: ws.path(),
      onOutput: () => abort.abort(),
    });
    expect(await running).toMatchObject({ stopped: 'timeout' });
  });
});

test('an abort after the end changes nothing', async () => {
  const abort = new AbortController();
  const end = await run('echo done', { signal: abort.signal });
  abort.abort();
  expect(end).toMatchObject({ exitCode: 0, output: 'done\n' });
});

test('everything that runs can be killed without waiting', async () => {
  const running = [1, 2].map((i) => run(`echo $$ > ${i}; sleep 60`, { directory: ws.path() }));
  const pid = (i: number) => Number(existsSync(ws.path(`${i}`)) && readFileSync(ws.path(`${i}`), 'utf8'));
  await new Promise(setImmediate);
  await until(() => pid(1) > 0 && pid(2) > 0, 'two shells');
  killAllCommands();
  for (const end of await Promise.all(running)) expect(end).toMatchObject({ signal: 'SIGKILL' });
  expect([isAlive(pid(1)), isAlive(pid(2))]).toEqual([false, false]);
});
