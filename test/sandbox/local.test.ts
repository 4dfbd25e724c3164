import { symlinkSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { runCommand } from '../../src/sandbox/local.js';
import { run } from '../helpers/processes.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

describe('a command ends', () => {
  test.each([
    ['true', 0],
    ['exit 7', 7],
    ['false', 1],
    ['no_such_program_anywhere', 127],
    ['/dev/null', 126],
    ['bash -c "kill -KILL \\$\\$"; exit $?', 137],
  ])('%s with exit code %i', async (command, exitCode) => {
    expect(await run(command)).toMatchObject({ exitCode, signal: null, leftovers: [] });
  });

  test.each(['SIGKILL', 'SIGTERM', 'SIGSEGV'])('by %s without an exit code', async (signal) => {
    const end = await run(`kill -${signal.slice(3)} $$; sleep 5`);
    expect(end).toMatchObject({ exitCode: null, signal });
    expect(end).not.toHaveProperty('stopped');
  });
});

describe('output', () => {
  test('of stdout and stderr comes in the order in which it was written', async () => {
    const { output } = await run('for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done');
    expect(output).toBe([1, 2, 3, 4, 5].map((i) => `out ${i}\nerr ${i}\n`).join(''));
  });

  test('of a shell that cannot parse the line is its message, with the right line number', async () => {
    const { output, exitCode } = await run('if then');
    expect([exitCode, output]).toEqual([2, expect.stringMatching(/line 1: syntax error/)]);
    expect((await run('true\nfi')).output).toMatch(/line 2: syntax error/);
  });

  test('keeps every byte', async () => {
    const { bytes } = await run(String.raw`printf '\377\000\001\r\n\033[31m'`);
    expect(bytes.toString('hex')).toBe('ff00010d0a1b5b33316d');
  });

  test('may be long', async () => {
    const { bytes } = await run(`head -c 5000000 /dev/zero | tr '\\0' x`);
    expect(bytes.equals(Buffer.alloc(5_000_000, 'x'))).toBe(true);
  });

  test('of a command whose last line has no newline is complete', async () => {
    expect((await run('printf a; printf b >&2')).output).toBe('ab');
  });

  test('ends at once when the reader of a pipe in the command ends', async () => {
    expect(await run('yes | head -n 2')).toMatchObject({ output: 'y\ny\n', exitCode: 0 });
  });
});

describe('a command has', () => {
  test('an empty stdin', async () => {
    expect((await run('cat; read line; echo "read: $?"')).output).toBe('read: 1\n');
  });

  test('no terminal', async () => {
    const { output } = await run(
      'tty; [ -t 0 ] || [ -t 1 ] || [ -t 2 ] || echo none; : < /dev/tty || echo no tty',
    );
    expect(output).toMatch(/^not a tty\nnone\n.*\nno tty\n$/);
  });

  test('a process group and a session of its own', async () => {
    const { output } = await run(
      'read -r pid _ _ _ group session _ < /proc/$$/stat; echo $pid $group $session',
    );
    const [pid, group, session] = output.trim().split(' ');
    expect([group, session]).toEqual([pid, pid]);
  });

  test('the environment it is given, and a marker, and nothing of ours', async () => {
    const { output } = await run('env', { environment: { PATH: process.env['PATH'] ?? '', GIVEN: 'value' } });
    const names = output.split('\n').map((line) => line.split('=')[0]);
    const own = new Set<string | undefined>(['PWD', 'SHLVL', '_', 'OLDPWD', '']);
    expect(names.filter((name) => !own.has(name)).sort()).toEqual(['BOSUN_COMMAND_ID', 'GIVEN', 'PATH']);
  });

  test('a marker that no other command has', async () => {
    const ends = await Promise.all([1, 2, 3].map(() => run('echo $BOSUN_COMMAND_ID')));
    expect(new Set(ends.map(({ output }) => output)).size).toBe(3);
    for (const { output } of ends) expect(output).toMatch(/^[0-9a-f]{16}\n$/);
  });

  test('the directory it is given', async () => {
    expect((await run('pwd -P', { directory: ws.path() })).output).toBe(`${ws.path()}\n`);
  });

  test('bash where it is installed, else a shell that works', async () => {
    expect((await run('echo ${BASH_VERSION:+bash}')).output).toBe('bash\n');
    expect((await run('echo works', { environment: { PATH: ws.path() } })).output).toBe('works\n');
  });

  test('the bash that comes first in its own search path', async () => {
    symlinkSync('/bin/false', ws.path('bash'));
    const environment = { PATH: `${ws.path()}:${process.env['PATH']}` };
    expect((await run('echo works', { environment })).exitCode).toBe(1);
  });
});

test('a command that cannot be started says why', async () => {
  const end = await runCommand({
    command: 'true',
    directory: ws.path('missing'),
    environment: { PATH: process.env['PATH'] ?? '' },
    timeoutMs: 5000,
    idleTimeoutMs: 5000,
    signal: new AbortController().signal,
    onOutput: () => {},
  });
  expect(end).toEqual({ type: 'not_started', message: expect.stringMatching(/ENOENT/) });
});

test('commands side by side do not touch each other', async () => {
  const leaving = run('sleep 60 & echo left');
  const staying = run('sleep 0.8; echo stayed');
  expect((await leaving).leftovers).toHaveLength(1);
  expect(await staying).toMatchObject({ output: 'stayed\n', exitCode: 0, leftovers: [] });
});
