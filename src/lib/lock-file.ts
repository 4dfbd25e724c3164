import { rmSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { coded } from './errors.js';
import { draftLease, dropLease, findLease, placeLease } from './lease-file.js';
import { lifeOf } from './process-mark.js';

export interface LockOptions {
  /** How long to wait for its holder. */
  readonly waitMs: number;
  /** A lock of this age was left behind. Must be far longer than any work takes. */
  readonly staleMs: number;
  readonly signal: AbortSignal;
}

const POLL_MS = 10;

/**
 * Does some work while no other process does work under the same lock, a file. The work is synchronous: nothing of
 * this process gets in between either, and the file is gone again when it is done, in whatever way. Throws what the
 * file system throws, `ELOCKED` if the lock could not be had, and an `AbortError` if the signal fires meanwhile.
 */
export async function withLockFile<T>(path: string, work: () => T, options: LockOptions): Promise<T> {
  const { signal, staleMs } = options;
  signal.throwIfAborted();
  const deadline = performance.now() + options.waitMs;
  let mine = take(path);
  while (mine === undefined) {
    const broken = breakStale(path, staleMs);
    if (!broken && performance.now() > deadline) throw coded('ELOCKED', `${path} is held by another process`);
    // Not in step with the others who wait.
    if (!broken) await wait(POLL_MS * (0.5 + Math.random()), undefined, { signal });
    mine = take(path);
  }
  try {
    return work();
  } finally {
    dropLease(path, mine);
  }
}

/** The id of the lock that was made; undefined if there is one already. */
function take(path: string): string | undefined {
  const draft = draftLease(path, 'lock', 1);
  try {
    return placeLease(draft, path) ? draft.record.id : undefined;
  } finally {
    rmSync(draft.path, { force: true });
  }
}

/**
 * Removes a lock that was left behind. A second lock sees to it that only one process does so at a time: otherwise a
 * slow one could remove what a quick one has just made again.
 */
function breakStale(path: string, staleMs: number): boolean {
  if (!isStale(path, staleMs)) return false;
  const breaker = `${path}.break`;
  const mine = take(breaker);
  if (mine === undefined) {
    if (isStale(breaker, staleMs)) rmSync(breaker, { force: true });
    return false;
  }
  try {
    const still = isStale(path, staleMs);
    if (still) rmSync(path, { force: true });
    return still;
  } finally {
    dropLease(breaker, mine);
  }
}

function isStale(path: string, staleMs: number): boolean {
  const found = findLease(path);
  if (!found) return false;
  // A time in the future is no reason to wait for ever.
  return Math.abs(Date.now() - found.version.mtimeMs) > staleMs || lifeOf(found.record) === 'dead';
}
