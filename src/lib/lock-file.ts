import { rmSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { errorWithCode } from './errors.js';
import { draftLease, dropLease, findLease, placeLease } from './lease-file.js';
import { lifeOf } from './process-mark.js';

export interface LockOptions {
  /** How long to wait for its holder. */
  readonly waitMs: number;
  /** A lock of this age is stale. Must be far longer than any work takes. */
  readonly staleMs: number;
  readonly signal: AbortSignal;
}

const POLL_MS = 10;

/**
 * Does some work while no other process works under the same lock, a file. The work is synchronous: nothing in this
 * process intervenes either, and the file is removed when it is done, even if it throws. Throws errors of the file
 * system, `ELOCKED` if the lock could not be had, and an `AbortError` if the signal fires meanwhile.
 */
export async function withLockFile<T>(path: string, work: () => T, options: LockOptions): Promise<T> {
  const { signal, staleMs } = options;
  signal.throwIfAborted();
  const deadline = performance.now() + options.waitMs;
  let mine = take(path);
  while (mine === undefined) {
    const broken = breakStale(path, staleMs);
    if (!broken && performance.now() > deadline)
      throw errorWithCode('ELOCKED', `${path} is held by another process`);
    // Not in step with other waiting processes.
    if (!broken) await wait(POLL_MS * (0.5 + Math.random()), undefined, { signal });
    mine = take(path);
  }
  try {
    return work();
  } finally {
    dropLease(path, mine);
  }
}

/** The id of the new lock; undefined if there is one already. */
function take(path: string): string | undefined {
  const draft = draftLease(path, 'lock', 1);
  try {
    return placeLease(draft, path) ? draft.record.id : undefined;
  } finally {
    rmSync(draft.path, { force: true });
  }
}

/**
 * Removes a stale lock. A second lock makes sure that only one process does so at a time: otherwise a slow one
 * could remove what a fast one has just created again.
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
  // A time in the future must not make anyone wait for ever.
  return Math.abs(Date.now() - found.version.mtimeMs) > staleMs || lifeOf(found.record) === 'dead';
}
