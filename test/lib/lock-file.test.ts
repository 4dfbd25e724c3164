import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { withLockFile } from '../../src/lib/lock-file.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();
const options = { waitMs: 100, staleMs: 30_000, signal: new AbortController().signal };
const lock = () => ws.path('x.lock');
const tryIt = (more = {}) => withLockFile(lock(), () => 'done', { ...options, ...more });

/** What a lock of this process looks like. */
async function sample(): Promise<Record<string, unknown>> {
  return withLockFile(ws.path('y.lock'), () => JSON.parse(readFileSync(ws.path('y.lock'), 'utf8')), options);
}

function deadPid(): number {
  return spawnSync(process.execPath, ['-e', '']).pid;
}

test('the lock is there while the work is done, says whose it is, and is gone after it', async () => {
  expect(await sample()).toMatchObject({ pid: process.pid, since: expect.stringMatching(/^\d{4}-/) });
  expect(readdirSync(ws.path())).toEqual([]);
});

test('it is gone as well if the work throws', async () => {
  const work = () => {
    throw new Error('no');
  };
  await expect(withLockFile(lock(), work, options)).rejects.toThrow('no');
  expect(readdirSync(ws.path())).toEqual([]);
});

describe('a lock that is held', () => {
  const cases: [string, (own: Record<string, unknown>) => string][] = [
    ['by a living process', (own) => JSON.stringify(own)],
    [
      'by a dead process of another machine',
      (own) => JSON.stringify({ ...own, pid: deadPid(), where: 'elsewhere' }),
    ],
    ['by nobody knows whom', () => 'garbage'],
    ['and not written yet', () => ''],
    ['by null', () => 'null'],
    ['by something large', () => 'x'.repeat(10_000)],
  ];
  test.each(cases)('%s is waited for, but not for ever', async (_what, content) => {
    writeFileSync(lock(), content(await sample()));
    await expect(tryIt()).rejects.toMatchObject({ code: 'ELOCKED' });
    expect(readdirSync(ws.path())).toEqual(['x.lock']);
  });

  test('is no file at all: the same', async () => {
    mkdirSync(lock());
    await expect(tryIt()).rejects.toMatchObject({ code: 'ELOCKED' });
    symlinkSync('nowhere', ws.path('z.lock'));
    await expect(withLockFile(ws.path('z.lock'), () => 1, options)).rejects.toMatchObject({
      code: 'ELOCKED',
    });
    expect(existsSync(ws.path('nowhere'))).toBe(false);
  });

  test('is had as soon as it is free', async () => {
    writeFileSync(lock(), JSON.stringify(await sample()));
    const waiting = tryIt({ waitMs: 10_000 });
    setTimeout(() => rmSync(lock()), 30);
    expect(await waiting).toBe('done');
  });

  test('is not waited for once the signal fires', async () => {
    writeFileSync(lock(), 'garbage');
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 20);
    await expect(tryIt({ waitMs: 60_000, signal: stop.signal })).rejects.toMatchObject({
      name: 'AbortError',
    });
    await expect(tryIt({ signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('a lock that was left behind is taken over', () => {
  test('when its process is dead', async () => {
    writeFileSync(lock(), JSON.stringify({ ...(await sample()), pid: deadPid() }));
    expect(await tryIt({ waitMs: 0 })).toBe('done');
    expect(readdirSync(ws.path())).toEqual([]);
  });

  test.each([-60, 60])('when its time is %d seconds off', async (seconds) => {
    writeFileSync(lock(), 'garbage');
    const time = Date.now() / 1000 + seconds;
    utimesSync(lock(), time, time);
    expect(await tryIt({ waitMs: 0 })).toBe('done');
    expect(readdirSync(ws.path())).toEqual([]);
  });

  test('by one process at a time', async () => {
    writeFileSync(lock(), JSON.stringify({ ...(await sample()), pid: deadPid() }));
    writeFileSync(`${lock()}.break`, 'another is about to');
    await expect(tryIt()).rejects.toMatchObject({ code: 'ELOCKED' });
  });
});

test('whoever lost its lock does not remove the next one', async () => {
  const theirs = 'of another';
  await withLockFile(lock(), () => writeFileSync(lock(), theirs), options);
  expect(readFileSync(lock(), 'utf8')).toBe(theirs);
});

test('a folder that is not there is the caller’s business', async () => {
  await expect(withLockFile(ws.path('no/x.lock'), () => 1, options)).rejects.toMatchObject({
    code: 'ENOENT',
  });
});
