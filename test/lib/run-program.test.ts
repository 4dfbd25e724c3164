import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { runProgram, startProcess, type ProgramRequest } from '../../src/lib/run-program.js';

const environment = { PATH: process.env['PATH'] ?? '' };
const never = new AbortController().signal;

function run(script: string, more: Partial<ProgramRequest> = {}) {
  const limits = { timeoutMs: 60_000, maxBytes: 1_000_000, signal: never };
  return runProgram({
    file: '/bin/sh',
    args: ['-c', script],
    directory: '/',
    environment,
    ...limits,
    ...more,
  });
}

function start(program: readonly string[], more: object = {}) {
  return startProcess({ program, directory: '/', environment, stdio: ['ignore', 'pipe', 'pipe'], ...more });
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('a program that was run', () => {
  test('tells its exit code, and what it printed', async () => {
    const end = await run('cat; echo no >&2; exit 3', { input: Buffer.from('in') });
    expect(end).toEqual({ type: 'ended', code: 3, stdout: Buffer.from('in'), stderr: 'no\n' });
  });

  test('need not read its input', async () => {
    const end = await run('exit 0', { input: Buffer.alloc(1_000_000) });
    expect(end).toMatchObject({ type: 'ended', code: 0 });
  });

  test('has the environment that it was given, and nothing of ours', async () => {
    const end = await run('export -p', { environment: { ONLY: 'this' } });
    const names = end.type === 'ended' && end.stdout.toString().match(/(?<=export )\w+/g);
    expect(names).toEqual(expect.arrayContaining(['ONLY']));
    expect(names).not.toContain('HOME');
    expect(names).not.toContain('NODE_OPTIONS');
  });

  test.each<[string, Partial<ProgramRequest>, RegExp]>([
    ['does not exist', { file: '/no/such/program' }, /spawn \/no\/such\/program ENOENT$/],
    ['has no folder to start in', { directory: '/no/such/folder' }, /spawn \/bin\/sh ENOENT$/],
    ['has too long a command line', { args: ['-c', 'x'.repeat(3_000_000)] }, /spawn E2BIG$/],
    ['has a zero byte in an argument', { args: ['-c', 'a\0b'] }, /null byte/],
    [
      'prints too much',
      { args: ['-c', 'cat /dev/zero'], maxBytes: 1000 },
      /^more than 1000 bytes of output$/,
    ],
    ['is killed', { args: ['-c', 'kill -9 $$'] }, /^it was killed$/],
  ])('that %s has failed', async (_what, more, message) => {
    expect(await run('', more)).toEqual({ type: 'failed', message: expect.stringMatching(message) });
  });

  test('is over when its time is, though an orphan holds its pipes open', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'bosun-orphan-')), 'pid');
    const end = await run(`setsid sleep 300 & echo $! > ${file}; wait`, { timeoutMs: 1000 });
    expect(end).toEqual({ type: 'failed', message: 'it did not end within 1 s' });
    process.kill(Number(readFileSync(file, 'utf8')), 'SIGKILL');
  });

  test('is ended by a signal, and not begun after one', async () => {
    const stop = new AbortController();
    const ended = run('sleep 300', { signal: stop.signal });
    stop.abort();
    expect(await ended).toEqual({ type: 'failed', message: 'cancelled' });
    const file = join(mkdtempSync(join(tmpdir(), 'bosun-begun-')), 'file');
    expect(await run(`echo x > ${file}`, { signal: stop.signal })).toEqual({
      type: 'failed',
      message: 'cancelled',
    });
    expect(() => readFileSync(file)).toThrow(/ENOENT/);
  });
});

describe('a process that was started', () => {
  test('is handed out while it runs', async () => {
    const { child, pid, exited, closed } = await start(['sleep', '300'], { detached: true });
    expect(isAlive(pid)).toBe(true);
    process.kill(-pid, 'SIGKILL');
    expect(await exited).toEqual({ code: null, signal: 'SIGKILL' });
    await closed;
    expect(child.stdout?.destroyed).toBe(true);
  });

  test('loses nothing that it prints at once', async () => {
    const { child, closed } = await start(['printf', 'first']);
    let heard = '';
    child.stdout?.on('data', (piece: Buffer) => (heard += piece.toString()));
    await closed;
    expect(heard).toBe('first');
  });

  test('has exited though an orphan holds its pipes open, and those can be closed', async () => {
    const { child, pid, exited, closed } = await start(['/bin/sh', '-c', 'sleep 300 & exit 4'], {
      detached: true,
    });
    expect(await exited).toEqual({ code: 4, signal: null });
    for (const stream of child.stdio) stream?.destroy();
    expect(await closed).toEqual({ code: 4, signal: null });
    process.kill(-pid, 'SIGKILL');
  });

  test('leads a group of its own only if it is to', async () => {
    const groupOf = (pid: number) => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[2];
    for (const detached of [true, false]) {
      const { child, pid, closed } = await start(['sleep', '300'], { detached });
      expect(groupOf(pid) === String(pid)).toBe(detached);
      child.kill('SIGKILL');
      await closed;
    }
  });

  test('leaves no listeners behind on our own process', async () => {
    const counts = () => ['exit', 'SIGTERM', 'SIGINT', 'SIGHUP'].map((name) => process.listenerCount(name));
    const before = counts();
    const { closed, child } = await start(['sleep', '300']);
    expect(counts()).toEqual(before);
    child.kill('SIGKILL');
    await closed;
  });

  test('that cannot be started rejects with the code that Node gives', async () => {
    await expect(start(['/no/such/program'])).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(start(['x'.repeat(3_000_000)])).rejects.toMatchObject({
      code: expect.stringMatching(/E2BIG|ENAMETOOLONG/),
    });
  });
});
