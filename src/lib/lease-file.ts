import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  openSync,
  readSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { attempt } from './attempt.js';
import { errorCode } from './errors.js';
import { newRunId } from './ids.js';
import { ownMark, type ProcessMark } from './process-mark.js';

/** What a lease says about its holder. */
export interface LeaseRecord extends ProcessMark {
  readonly id: string;
  /** What the holder calls itself. */
  readonly name: string;
  /** Grows each time that the lease is taken over. */
  readonly number: number;
  readonly since: string;
}

/** An existing lease. */
export interface FoundLease {
  readonly record: Partial<LeaseRecord>;
  readonly version: FileVersion;
}

/** Tells one state of a file from another. */
export interface FileVersion {
  readonly ino: number;
  readonly mtimeMs: number;
}

/** A lease that is written but does not count yet. */
export interface LeaseDraft {
  readonly path: string;
  readonly record: LeaseRecord;
  /** By the file system's time: all machines that share it use the same clock. */
  readonly version: FileVersion;
}

const MAX_BYTES = 4096;

export function draftLease(path: string, name: string, number: number): LeaseDraft {
  const now = new Date();
  const id = newRunId(now);
  const record = { ...ownMark(), id, name, number, since: now.toISOString() };
  const draft = `${path}.${id}`;
  const file = openSync(draft, 'wx', 0o600);
  try {
    writeSync(file, JSON.stringify(record));
    const { ino, mtimeMs } = fstatSync(file);
    return { path: draft, record, version: { ino, mtimeMs } };
  } catch (error) {
    // Half a draft, on a full disk for example, is useless.
    attempt(() => unlinkSync(draft));
    throw error;
  } finally {
    closeSync(file);
  }
}

/** Some file systems have no hard links. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

/** Makes a draft count, whole from the first moment. False if there is already a lease. */
export function placeLease(draft: LeaseDraft, path: string): boolean {
  try {
    linkSync(draft.path, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    if (!NO_LINKS.includes(errorCode(error) ?? '')) throw error;
  }
  try {
    const file = openSync(path, 'wx', 0o600);
    writeSync(file, JSON.stringify(draft.record));
    closeSync(file);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** The lease at a path; undefined if there is none. What is not a lease has an empty record. */
export function findLease(path: string): FoundLease | undefined {
  try {
    return onLease(path, constants.O_RDONLY, readFound);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    // A link, a folder or a file that we may not read: it is in the way, and has no time.
    return { record: {}, version: { ino: 0, mtimeMs: NaN } };
  }
}

/** Rewrites the lease unchanged, so that its time begins again. Undefined if it has another id. */
export function touchLease(path: string, id: string): FoundLease | undefined {
  return onLease(path, constants.O_RDWR, (file) => {
    const { record } = readFound(file);
    if (record.id !== id) return undefined;
    // Written, not set: the file system's clock counts, not ours.
    writeSync(file, JSON.stringify(record), 0);
    return { record, version: fstatSync(file) };
  });
}

export function dropLease(path: string, id: string): void {
  if (findLease(path)?.record.id === id) attempt(() => unlinkSync(path));
}

function onLease<T>(path: string, flags: number, use: (file: number) => T): T {
  const safe = (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);
  const file = openSync(path, flags | safe);
  try {
    return use(file);
  } finally {
    closeSync(file);
  }
}

function readFound(file: number): FoundLease {
  const stats = fstatSync(file);
  if (!stats.isFile()) return { record: {}, version: { ino: 0, mtimeMs: NaN } };
  const bytes = Buffer.alloc(MAX_BYTES);
  const size = readSync(file, bytes, 0, MAX_BYTES, 0);
  return { record: recordIn(bytes.toString('utf8', 0, size)), version: stats };
}

function recordIn(text: string): Partial<LeaseRecord> {
  return attempt(() => JSON.parse(text) as Partial<LeaseRecord> | null) ?? {};
}
