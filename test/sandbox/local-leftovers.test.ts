import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { bound } from '../helpers/bounds.js';
import { endProcess, run, type Ran } from '../helpers/processes.js';
import { isAlive, until } from '../helpers/until.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

/** Processes that a test lets out of the command's reach; it ends them itself. */
const escaped: number[] = [];
afterEach(() => {
  for (const pid of escaped.splice(0)) endProcess(pid);
});

async function escapedPid(): Promise<number> {
  await until(() => existsSync(ws.path('pid')) && ws.text('pid').endsWith('\n'), 'the escaped process');
  const pid = Number(ws.text('pid'));
  escaped.push(pid);
  return pid;
}

describe('what a command leaves behind is killed and listed', () => {
  test.each([
    ['in the background', 'sleep 60 & echo $!'],
    ['in a session of its own', 'setsid sleep 60 & echo $!'],
    ['as an orphan', '(sleep 60 & echo $!)'],
    ['as an orphan in a session of its own', `bash -c 'setsid sleep 60 & echo $!'`],
    ['under nohup', 'nohup sleep 60 > /dev/null 2>&1 & echo $!'],
    ['and ignores SIGTERM', `trap '' TERM; sleep 60 & echo $!`],
    ['and has closed its output', 'sleep 60 > /dev/null 2>&1 & echo $!'],
    ['before many that come and go', 'setsid sleep 60 & echo $!; for i in {1..60}; do /bin/true; done'],
    ['after many that came and went', 'for i in {1..60}; do /bin/true; done; setsid sleep 60 & echo $!'],
  ])('%s', async (_, command) => {
    const { output, leftovers, exitCode, ms } = await run(command);
    const pid = Number(output);
    expect(pid).toBeGreaterThan(1);
    expect([exitCode, leftovers]).toEqual([0, [pid]]);
    expect(isAlive(pid)).toBe(false);
    expect(ms).toBeLessThan(3000);
  });

  test('with all its children', async () => {
    const { leftovers } = await run(
      `bash -c 'sleep 61 & sleep 62 & wait' & while ! pgrep -P $! -f 62; do :; done`,
    );
    expect(leftovers).toHaveLength(3);
    expect(leftovers.filter((pid) => isAlive(pid))).toEqual([]);
  });
});

describe('a command ends when its shell ends', () => {
  test('although somebody holds its output open', async () => {
    const end = await run('sleep 60 & echo done');
    expect(end).toMatchObject({ output: 'done\n', exitCode: 0 });
    expect(end.stopped).toBeUndefined();
    bound(end.ms, 2000);
  });

  test('although somebody beyond our reach holds it open in silence', async () => {
    const command = `env -i PATH="$PATH" setsid bash -c 'echo $$ > pid; exec sleep 60' & while [ ! -s pid ]; do :; done`;
    const end = await run(command, { directory: ws.path() });
    expect(isAlive(await escapedPid())).toBe(true);
    expect(end).toMatchObject({ exitCode: 0, leftovers: [] });
    expect(end.stopped).toBeUndefined();
    bound(end.ms, 2000);
  });

  test('although somebody beyond our reach never stops writing to it', async () => {
    const command =
      `env -i PATH="$PATH" setsid bash -c 'echo $$ > pid; while :; do echo x; sleep 0.05; done' & ` +
      'while [ ! -s pid ]; do :; done';
    const running = run(command, { directory: ws.path(), timeoutMs: 2000, idleTimeoutMs: 2000 });
    const pid = await escapedPid();
    const end = await Promise.race([running, wait(4000, 'never', { ref: false })]);
    endProcess(pid);
    expect(await running).toMatchObject({ exitCode: 0 });
    expect(end === 'never' ? end : 'ended').toBe('ended');
  });

  test('although a process that is dead already was not reaped by its parent', async () => {
    // The dead one is still in the group; its parent has left it and does not care.
    const command = [
      `env -i PATH="$PATH" bash -c 'sleep 0.1 & echo $$ > pid; exec setsid sleep 60' > /dev/null 2>&1 &`,
      'while [ ! -s pid ]; do sleep 0.01; done; sleep 0.2',
    ].join('\n');
    const end = await run(command, { directory: ws.path() });
    await escapedPid();
    expect(end).toMatchObject({ exitCode: 0, leftovers: [] });
    expect(end.stopped).toBeUndefined();
    bound(end.ms, 1500);
  });
});

describe('nothing is lost or harmed', () => {
  test('of what a process substitution writes after the shell has ended', async () => {
    const { output, leftovers } = await run(`echo late > >(sleep 0.01; cat)`);
    expect([output, leftovers]).toEqual(['late\n', []]);
  });

  test('when a command leaves nothing behind', async () => {
    const { leftovers, ms } = await run('sleep 0.01 & wait; echo done');
    expect(leftovers).toEqual([]);
    bound(ms, 1000);
  });

  test('of a process that is not its own', async () => {
    const bystander = spawn('sleep', ['60'], { stdio: 'ignore' });
    await new Promise((resolve) => bystander.once('spawn', resolve));
    const pid = bystander.pid as number;
    escaped.push(pid);
    const ends: Ran[] = [];
    for (const command of ['sleep 60 & echo', 'echo', 'setsid sleep 60 & echo'])
      ends.push(await run(command));
    expect(ends.flatMap(({ leftovers }) => leftovers)).toHaveLength(2);
    expect(isAlive(pid)).toBe(true);
  });
});
