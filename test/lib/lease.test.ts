import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { holderText, takeLease, type Lease, type LeaseWishes } from '../../src/lib/lease.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();
const path = () => ws.path('x.lock');
const held: Lease[] = [];
afterEach(() => held.splice(0).forEach((lease) => lease.release()));

async function take(wishes: Partial<LeaseWishes> = {}): Promise<Lease> {
  const lease = await takeLease(path(), { name: 'me', ...wishes });
  held.push(lease);
  return lease;
}

const content = () => JSON.parse(readFileSync(path(), 'utf8')) as Record<string, unknown>;

/** Leaves a lease that somebody else has made, so many seconds ago. */
async function leave(change: Record<string, unknown>, secondsAgo = 0): Promise<void> {
  const lease = await takeLease(path(), { name: 'other' });
  const record = content();
  lease.release();
  writeFileSync(path(), JSON.stringify({ ...record, id: 'other', ...change }));
  backdate(secondsAgo);
}

function backdate(seconds: number): void {
  const time = Date.now() / 1000 - seconds;
  utimesSync(path(), time, time);
}

const deadPid = () => spawnSync(process.execPath, ['-e', '']).pid;
const refused = expect.objectContaining({ code: 'EHELD' });

test('a lease says whose it is, and is gone when it is given back', async () => {
  const lease = await take();
  lease.check();
  expect(content()).toMatchObject({ name: 'me', pid: process.pid, number: 1 });
  expect(readdirSync(ws.path())).toEqual(['x.lock']);
  lease.release();
  expect(readdirSync(ws.path())).toEqual([]);
  expect(() => lease.check()).toThrow(expect.objectContaining({ code: 'ELOST' }));
});

describe('is kept from others', () => {
  const cases: [string, Record<string, unknown>, number][] = [
    ['while its process lives, whatever its age', {}, 3600],
    ['of another machine or namespace until its time is over', { where: 'elsewhere', pid: deadPid() }, 50],
    ['that names nobody until its time is over', { pid: undefined }, 50],
    ['whose process number makes no sense', { pid: -1 }, 0],
  ];
  test.each(cases)('%s', async (_when, change, age) => {
    await leave(change, age);
    await expect(take()).rejects.toEqual(refused);
    expect(readdirSync(ws.path())).toEqual(['x.lock']);
  });

  test('by what is no lease at all', async () => {
    mkdirSync(path());
    await expect(take()).rejects.toEqual(refused);
    rmSync(path(), { recursive: true });
    symlinkSync('nowhere', path());
    await expect(take()).rejects.toEqual(refused);
    expect(readdirSync(ws.path())).toEqual(['x.lock']);
  });

  test('and names its holder', async () => {
    await leave({ name: 'run 7', pid: 42, host: 'far', where: 'elsewhere', since: 'noon' });
    const error = await take().catch((caught: unknown) => caught);
    const { holder } = error as { holder: Parameters<typeof holderText>[0] };
    expect(holderText(holder)).toBe('run 7 (pid 42 on far, since noon)');
    expect(holder.alive).toBe(false);
  });
});

describe('is taken over, with a number that grows', () => {
  const cases: [string, Record<string, unknown>, number, boolean][] = [
    ['from a dead process of this machine at once', { pid: deadPid() }, 0, false],
    ['from a process whose number was given out again', { birth: '1' }, 0, false],
    ['from elsewhere when its time is over', { where: 'elsewhere' }, 61, true],
    ['from a clock that is far ahead', { where: 'elsewhere' }, -3600, true],
    ['from what names nobody', { pid: 'x', where: null }, 61, true],
  ];
  test.each(cases)('%s', async (_who, change, age, contested) => {
    await leave({ number: 6, ...change }, age);
    const lease = await take();
    expect([lease.number, lease.contested]).toEqual([7, contested]);
    lease.check();
    expect(readdirSync(ws.path())).toEqual(['x.lock']);
  });

  test('that begins again where it made no sense', async () => {
    await leave({ number: 1e300, pid: deadPid() });
    expect((await take()).number).toBe(1);
  });

  test('by one of many', async () => {
    await leave({ pid: deadPid() });
    const ends = await Promise.allSettled(Array.from({ length: 20 }, () => take()));
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(readdirSync(ws.path())).toEqual(['x.lock']);
  });
});

/** A check looks at the file once in a millisecond. */
const untilItLooks = () => setTimeout(2);

describe('whoever has a lease', () => {
  test('learns at the next check that another took it, and leaves that one alone', async () => {
    const lease = await take();
    lease.check();
    writeFileSync(path(), JSON.stringify({ ...content(), where: 'elsewhere' }));
    backdate(61);
    const next = await take({ name: 'next' });
    expect(next.number).toBe(2);
    await untilItLooks();
    expect(() => lease.check()).toThrow(/was taken over by next \(pid \d+ on /);
    lease.release();
    next.check();
    expect(content()).toMatchObject({ name: 'next' });
  });

  test('keeps it while nobody else has it, however late it comes', async () => {
    const lease = await take();
    backdate(3600);
    lease.check();
    await expect(take()).rejects.toEqual(refused);
  });

  test('makes it again if somebody has cleaned up', async () => {
    const prepare = () => mkdirSync(ws.path(), { recursive: true });
    const lease = await take({ prepare });
    lease.check();
    rmSync(path());
    await untilItLooks();
    lease.check();
    expect([content()['number'], lease.number]).toEqual([2, 2]);
    rmSync(ws.path(), { recursive: true });
    await untilItLooks();
    lease.check();
    expect(readdirSync(ws.path())).toEqual(['x.lock']);
  });

  test('has lost it if it is gone and must not be made again', async () => {
    const lease = await take();
    rmSync(path());
    expect(() => lease.check()).toThrow(/is gone, and another process may have held it in the meantime/);
    expect(readdirSync(ws.path())).toEqual([]);
  });

  test('does not follow a link that was put in its place', async () => {
    const lease = await take();
    lease.check();
    rmSync(path());
    writeFileSync(ws.path('victim'), 'precious');
    symlinkSync('victim', path());
    expect(() => lease.check()).not.toThrow();
    expect(readFileSync(ws.path('victim'), 'utf8')).toBe('precious');
  });
});

describe('who waits', () => {
  test('has it as soon as it is given back, and is told once whom it waits for', async () => {
    const lease = await take({ name: 'first' });
    const told: unknown[] = [];
    const waiting = take({ waitMs: 10_000, onWait: ({ name }) => told.push([name, lease.release()]) });
    expect((await waiting).number).toBe(1);
    expect(told).toEqual([['first', undefined]]);
  });

  test('does so no longer than it wants to', async () => {
    await take();
    await expect(take({ waitMs: 60 })).rejects.toEqual(refused);
    const stop = new AbortController();
    const waiting = take({ waitMs: 60_000, signal: stop.signal, onWait: () => stop.abort(new Error('no')) });
    await expect(waiting).rejects.toThrow('no');
  });
});

test('a folder that is not there is the caller’s business', async () => {
  await expect(takeLease(ws.path('no/x.lock'), { name: 'me' })).rejects.toMatchObject({ code: 'ENOENT' });
});
