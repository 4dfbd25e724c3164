import { linkSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { errorCode } from './errors.js';
import { newRunId } from './ids.js';
import { readRegularFile } from './regular-file.js';

export interface LockOptions {
  /** How long to wait for whoever holds it. */
  readonly waitMs: number;
  /** A lock of this age was left behind, whoever made it. Must be far longer than any work takes. */
  readonly staleMs: number;
  readonly signal: AbortSignal;
}

const POLL_MS = 10;
/** More than enough for a lock and for what was left of breaking it. */
const MAX_TRIES = 10;

/**
 * Does some work while no other process does work under the same lock, a file. The work is synchronous: nothing of
 * this process gets in between either, and the file is gone again when it is done, in whatever way. Throws what the
 * file system throws, `ELOCKED` if the lock could not be had, and an `AbortError` if the signal fires meanwhile.
 */
export async function withLockFile<T>(path: string, work: () => T, options: LockOptions): Promise<T> {
  const { signal } = options;
  signal.throwIfAborted();
  const deadline = performance.now() + options.waitMs;
  let mine = take(path);
  while (mine === undefined) {
    const broken = breakIf(path, () => isStale(path, options.staleMs));
    if (!broken && performance.now() > deadline) throw lockedError(path);
    // Not in step with the others who wait.
    if (!broken) await wait(POLL_MS * (0.5 + Math.random()), undefined, { signal });
    mine = take(path);
  }
  try {
    return work();
  } finally {
    release(path, mine);
  }
}

/**
 * Takes a lock for as long as this process wants it, without waiting; returns what gives it back. One that a dead
 * process or another machine left behind is taken over: whoever works elsewhere works on files of its own.
 */
export function holdLockFile(path: string): () => void {
  let mine = take(path);
  for (let i = 0; mine === undefined && isAbandoned(path) && i < MAX_TRIES; i++) {
    breakIf(path, () => isAbandoned(path));
    mine = take(path);
  }
  if (mine === undefined) throw lockedError(path);
  const content = mine;
  return () => release(path, content);
}

/** Whoever has made a lock needs a moment to write its name into it. */
const UNNAMED_MS = 5000;

function isAbandoned(path: string): boolean {
  const content = contentOf(path);
  if (!content) return false;
  const { pid, where, birth } = ownerIn(content.text);
  if (typeof pid !== 'number') return Math.abs(Date.now() - content.changedMs) > UNNAMED_MS;
  // Process numbers are given out again, in containers always in the same order.
  return where !== here() || isDead(pid) || birth !== birthOf(pid);
}

function lockedError(path: string): Error {
  return Object.assign(new Error(`${path} is held by another process`), { code: 'ELOCKED' });
}

/** Who made a lock. A process number says something only on its own machine, in its own namespace. */
interface Owner {
  readonly pid: number;
  readonly where: string;
  /** When the process began, as the system counts; absent where it does not say. */
  readonly birth?: string;
  readonly since: string;
  readonly id: string;
}

/** The content of the lock that was made; undefined if there is one already. */
function take(path: string): string | undefined {
  const now = new Date();
  const { pid } = process;
  const birth = birthOf(pid);
  const id = newRunId(now);
  const owner: Owner = {
    pid,
    where: here(),
    ...(birth !== undefined && { birth }),
    since: now.toISOString(),
    id,
  };
  const content = JSON.stringify(owner);
  // Written first and named then: a lock has its owner's name in it from the start, also if we are killed in between.
  const draft = `${path}.${id}`;
  try {
    writeFileSync(draft, content, { flag: 'wx', mode: 0o600 });
    linkSync(draft, path);
    return content;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return undefined;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Whoever slept so long that the lock was taken from it must not remove the next one's. */
function release(path: string, mine: string): void {
  if (contentOf(path)?.text !== mine) return;
  try {
    rmSync(path, { force: true });
  } catch {
    // The work is done; what cannot be removed will be stale soon.
  }
}

/**
 * Removes a lock that was left behind. A second lock sees to it that only one process does so at a time: otherwise a
 * slow one could remove what a quick one has just made anew.
 */
function breakIf(path: string, isLeftBehind: () => boolean): boolean {
  if (!isLeftBehind()) return false;
  const breaker = `${path}.break`;
  const mine = take(breaker);
  if (mine === undefined) {
    if (isAbandoned(breaker)) rmSync(breaker, { force: true });
    return false;
  }
  try {
    const still = isLeftBehind();
    if (still) rmSync(path, { force: true });
    return still;
  } finally {
    release(breaker, mine);
  }
}

function isStale(path: string, staleMs: number): boolean {
  const content = contentOf(path);
  if (!content) return false;
  // A time in the future is no reason to wait for ever.
  if (Math.abs(Date.now() - content.changedMs) > staleMs) return true;
  const { pid, where } = ownerIn(content.text);
  return where === here() && typeof pid === 'number' && isDead(pid);
}

function contentOf(path: string): { readonly text: string; readonly changedMs: number } | undefined {
  try {
    const { bytes, stats } = readRegularFile(path, 4096);
    return { text: bytes.toString('utf8'), changedMs: Number(stats.mtimeMs) };
  } catch {
    return undefined;
  }
}

function ownerIn(text: string): Partial<Owner> {
  try {
    return (JSON.parse(text) as Partial<Owner> | null) ?? {};
  } catch {
    // Seen before it was written, or not one of ours: its age decides.
    return {};
  }
}

function isDead(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return errorCode(error) === 'ESRCH';
  }
}

function birthOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in parentheses may contain anything.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

function here(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}
