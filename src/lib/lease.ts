import { lstatSync, renameSync, unlinkSync } from 'node:fs';
import { attempt } from './attempt.js';
import { errorWithCode, errorCode, errorMessage } from './errors.js';
import {
  draftLease,
  dropLease,
  findLease,
  placeLease,
  touchLease,
  type FileVersion,
  type FoundLease,
  type LeaseDraft,
  type LeaseRecord,
} from './lease-file.js';
import { withLockFile } from './lock-file.js';
import { pause } from './pause.js';
import { lifeOf } from './process-mark.js';

/** How long a lease counts whose holder cannot be checked from here, and how often its holder renews it. */
export const LEASE_MS = 60_000;
const HEARTBEAT_MS = 10_000;

export interface LeaseWishes {
  /** What the holder calls itself. */
  readonly name: string;
  /** How long to wait for its holder (0). */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
  /** Called once if there is something to wait for. */
  readonly onWait?: (holder: LeaseHolder) => void;
  /** Creates the folder of the lease. If given, a removed lease is created again; otherwise it is lost. */
  readonly prepare?: () => void;
  /** Called after the lease was released. */
  readonly tidy?: () => void;
}

/** The holder of a lease, as far as the lease says. */
export interface LeaseHolder extends Partial<Pick<LeaseRecord, 'name' | 'pid' | 'host' | 'since'>> {
  /** Whether it certainly runs; a process elsewhere cannot be checked. */
  readonly alive: boolean;
}

/** Another process has the lease. */
export class LeaseHeld extends Error {
  readonly code = 'EHELD';
  readonly holder: LeaseHolder;

  constructor(path: string, holder: LeaseHolder) {
    super(`${path} is held by another process`);
    this.holder = holder;
  }
}

/**
 * Takes a lease: a file that says which process may do something now, on any machine that shares it. That of a dead
 * process here is taken over at once, one from elsewhere when its time is over. Throws `LeaseHeld`, errors of the
 * file system, and the signal's reason if it has to wait.
 */
export async function takeLease(path: string, wishes: LeaseWishes): Promise<Lease> {
  const { waitMs = 0, signal = new AbortController().signal, onWait } = wishes;
  const deadline = performance.now() + waitMs;
  let pauseMs = 20;
  let hasAnnounced = false;
  while (true) {
    const taken = await tryLease(path, wishes);
    if (taken instanceof Lease) return taken;
    if (performance.now() >= deadline) throw new LeaseHeld(path, taken);
    if (!hasAnnounced) onWait?.(taken);
    hasAnnounced = true;
    // Not in step with other waiting processes.
    await pause(Math.min(pauseMs * (0.5 + Math.random()), deadline - performance.now()), signal);
    signal.throwIfAborted();
    pauseMs = Math.min(pauseMs * 2, 1000);
  }
}

/** Whether a lease is held now, as far as that shows without taking it. */
export function isHeld(path: string): boolean {
  const found = findLease(path);
  return found !== undefined && !leftBehind(found, Date.now());
}

async function tryLease(path: string, wishes: LeaseWishes): Promise<Lease | LeaseHolder> {
  const draft = draftIn(path, wishes);
  try {
    if (placeLease(draft, path)) return new Lease(path, draft, wishes);
    const found = findLease(path);
    if (!found) return { alive: false };
    if (leftBehind(found, draft.version.mtimeMs)) return (await takeOver(path, wishes)) ?? holderIn(found);
    return holderIn(found);
  } finally {
    drop(draft);
  }
}

/** A leaving process may remove the folder that it created. */
const PREPARE_TRIES = 3;

function draftIn(path: string, { name, prepare }: LeaseWishes): LeaseDraft {
  for (let i = 1; ; i++) {
    prepare?.();
    try {
      return draftLease(path, name, 1);
    } catch (error) {
      if (!prepare || i === PREPARE_TRIES || errorCode(error) !== 'ENOENT') throw error;
    }
  }
}

/** Why a lease is no longer held: its process is dead, or it was not renewed for too long. */
function leftBehind({ record, version }: FoundLease, nowMs: number): 'dead' | 'expired' | undefined {
  const life = lifeOf(record);
  if (life !== 'unknown') return life === 'dead' ? 'dead' : undefined;
  // A time in the future must not make anyone wait for ever.
  return Math.abs(nowMs - version.mtimeMs) > LEASE_MS ? 'expired' : undefined;
}

/** Longer than it takes to check a lease and to replace it. */
const TAKE_OVER = { waitMs: 5000, staleMs: 30_000, signal: new AbortController().signal };

/** Only one process at a time: otherwise a slow one could replace what a fast one has just created. */
async function takeOver(path: string, wishes: LeaseWishes): Promise<Lease | undefined> {
  const replace = (): Lease | undefined => {
    const found = findLease(path);
    const number = Number.isSafeInteger(found?.record.number) ? (found?.record.number as number) : 0;
    const draft: LeaseDraft = draftLease(path, wishes.name, number + 1);
    try {
      const why = found && leftBehind(found, draft.version.mtimeMs);
      if (!why) return undefined;
      renameSync(draft.path, path);
      return new Lease(path, draft, wishes, why === 'expired');
    } finally {
      drop(draft);
    }
  };
  try {
    return await withLockFile(`${path}.break`, replace, TAKE_OVER);
  } catch (error) {
    if (errorCode(error) === 'ELOCKED') return undefined;
    throw error;
  }
}

/** A lease that this process holds until it releases it, or finds that another has it. */
export class Lease {
  readonly path: string;
  /** Whether the former holder may still be running, unaware that its time is over. */
  readonly contested: boolean;
  #record: LeaseRecord;
  readonly #wishes: LeaseWishes;
  readonly #timer: NodeJS.Timeout;
  #version: FileVersion | undefined;
  #renewedMs = Date.now();
  #checkedMs = 0;
  #lost: Error | undefined;
  #onLost: (error: Error) => void = () => {};

  constructor(path: string, { record, version }: LeaseDraft, wishes: LeaseWishes, contested = false) {
    this.path = path;
    this.#record = record;
    // The same file under its new name. If it was copied, the first check finds a different one.
    this.#version = version;
    this.#wishes = wishes;
    this.contested = contested;
    this.#timer = setInterval(() => this.#beat(), HEARTBEAT_MS);
    this.#timer.unref();
  }

  get number(): number {
    return this.#record.number;
  }

  /** Calls back at once if the lease is lost, even between checks. */
  watch(onLost: (error: Error) => void): void {
    this.#onLost = onLost;
  }

  /**
   * Throws `ELOST` if another process has the lease. Only looks at the file's times, once in a millisecond: meant for
   * every write.
   */
  check(): void {
    if (this.#lost) throw this.#lost;
    // After a pause, which is when a lease gets lost, the time is another.
    const now = Date.now();
    if (now === this.#checkedMs) return;
    const version = lstatSync(this.path, { throwIfNoEntry: false });
    const same = version?.ino === this.#version?.ino && version?.mtimeMs === this.#version?.mtimeMs;
    // After a sleep, look closely: times of remote files are cached.
    if (!version || !same || this.#ageMs > HEARTBEAT_MS * 2) this.#renew();
    this.#checkedMs = now;
  }

  release(): void {
    clearInterval(this.#timer);
    if (this.#lost) return;
    this.#lost = errorWithCode('ELOST', `${this.path} was released`);
    dropLease(this.path, this.#record.id);
    this.#wishes.tidy?.();
  }

  get #ageMs(): number {
    return Math.abs(Date.now() - this.#renewedMs);
  }

  #beat(): void {
    try {
      this.#renew();
    } catch {
      if (this.#lost) this.#onLost(this.#lost);
    }
  }

  #renew(): void {
    let found: FoundLease | undefined;
    try {
      found = touchLease(this.path, this.#record.id) ?? this.#lose();
    } catch (error) {
      if (error === this.#lost) throw error;
      if (errorCode(error) === 'ENOENT') found = this.#remake();
      // The disk does not answer: until the time is over, no other process can have the lease.
      else if (this.#ageMs > LEASE_MS / 2) this.#lose(`could not be renewed: ${errorMessage(error)}`);
      else return;
    }
    this.#version = found?.version;
    this.#renewedMs = Date.now();
  }

  /** The lease was cleaned up. No other process can have had it meanwhile, unless its time was over. */
  #remake(): FoundLease | undefined {
    const { prepare } = this.#wishes;
    if (!prepare || this.#ageMs > LEASE_MS / 2)
      this.#lose('is gone, and another process may have held it in the meantime');
    let draft: LeaseDraft | undefined;
    try {
      prepare?.();
      draft = draftLease(this.path, this.#wishes.name, this.number + 1);
      if (!placeLease(draft, this.path)) this.#lose();
      this.#record = draft.record;
      return findLease(this.path);
    } catch (error) {
      if (error === this.#lost) throw error;
      // Its folder is gone as well: no other process can have it either.
      if (errorCode(error) === 'ENOENT') return undefined;
      return this.#lose(`is gone, and cannot be created again: ${errorMessage(error)}`);
    } finally {
      if (draft) drop(draft);
    }
  }

  #lose(why?: string): never {
    clearInterval(this.#timer);
    this.#lost = errorWithCode('ELOST', `${this.path} ${why ?? takenBy(findLease(this.path))}`);
    throw this.#lost;
  }
}

function drop({ path }: LeaseDraft): void {
  attempt(() => unlinkSync(path));
}

function takenBy(found: FoundLease | undefined): string {
  return `was taken over by ${holderText(found ? holderIn(found) : { alive: false })}`;
}

function holderIn({ record }: FoundLease): LeaseHolder {
  const { name, pid, host, since } = record;
  return {
    ...(typeof name === 'string' && { name }),
    ...(typeof pid === 'number' && { pid }),
    ...(typeof host === 'string' && { host }),
    ...(typeof since === 'string' && { since }),
    alive: lifeOf(record) === 'alive',
  };
}

/** `run 2026… (pid 7 on build-3, since 2026-11-17T10:00:00.000Z)` */
export function holderText({ name = 'somebody', pid, host, since }: LeaseHolder): string {
  const facts = [pid !== undefined && `pid ${pid}${host ? ` on ${host}` : ''}`, since && `since ${since}`];
  const details = facts.filter(Boolean).join(', ');
  return details ? `${name} (${details})` : name;
}
