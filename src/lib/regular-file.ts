import { closeSync, constants, fstatSync, openSync, readSync, statSync, type BigIntStats } from 'node:fs';
import { attempt } from './attempt.js';
import { errorWithCode } from './errors.js';
import { movedError, pathOfOpenFile } from './real-path.js';

/** Whether there is a regular file behind a path, through links, as far as we may look. */
export function isFile(path: string): boolean {
  return attempt(() => statSync(path, { throwIfNoEntry: false })?.isFile()) ?? false;
}

export interface FileBytes {
  readonly bytes: Buffer;
  /** As it was when reading began. */
  readonly stats: BigIntStats;
}

/**
 * The content of a regular file. What is checked is what is read: the checks are made on the open file, and
 * opening it cannot block, even if it turns out to be a FIFO or a device. Throws errors with a `code`: the
 * system's, `ENOTREG` for what is not a regular file, `EFBIG` for what is too large, `EMOVED` (if `unmoved` is
 * asked for) if the given real path leads elsewhere by now. Synchronous, because for ordinary files the thread
 * pool costs more than it saves.
 */
export function readRegularFile(
  path: string,
  maxBytes = Number.MAX_SAFE_INTEGER,
  { unmoved = false } = {},
): FileBytes {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    if (unmoved && (pathOfOpenFile(file) ?? path) !== path) throw movedError(path);
    const stats = fstatSync(file, { bigint: true });
    if (stats.isDirectory()) throw errorWithCode('EISDIR', `${path} is a directory`);
    if (!stats.isFile()) throw errorWithCode('ENOTREG', `${path} is not a regular file`);
    if (stats.size > maxBytes)
      throw errorWithCode('EFBIG', `${path} has ${stats.size} bytes, more than ${maxBytes}`);
    return { bytes: readAll(file, Number(stats.size)), stats };
  } finally {
    closeSync(file);
  }
}

/** The first bytes of a file, to find out what it is. */
export function readBeginning(path: string, bytes: number): Buffer {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    return readAll(file, bytes);
  } finally {
    closeSync(file);
  }
}

/** The last bytes of a file, and whether that is all of it. */
export function readEnd(path: string, bytes: number): { readonly end: Buffer; readonly isAll: boolean } {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const { size } = fstatSync(file);
    const from = Math.max(0, size - bytes);
    return { end: readAll(file, size - from, from), isAll: from === 0 };
  } finally {
    closeSync(file);
  }
}

function readAll(file: number, size: number, from = 0): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  let done = 0;
  while (done < size) {
    const n = readSync(file, bytes, done, size - done, from + done);
    if (n === 0) break;
    done += n;
  }
  return bytes.subarray(0, done);
}

/** File systems keep time in ticks: a change right after another may not show. */
const TICK_NS = 3_000_000_000n;

/** Whether an open file is the one that was read, with the same content. Being `replaced` changes its ctime. */
export function isStill(file: number, { bytes, stats }: FileBytes, { replaced = false } = {}): boolean {
  const now = fstatSync(file, { bigint: true });
  if (!isSameVersion(now, stats) || (!replaced && now.ctimeNs !== stats.ctimeNs)) return false;
  const isRecent = BigInt(Date.now()) * 1_000_000n - stats.ctimeNs < TICK_NS;
  return !isRecent || readAll(file, bytes.length).equals(bytes);
}

/** Whether two looks at a path saw the same file in the same state, as far as its times can tell. */
export function isSameVersion(a: BigIntStats, b: BigIntStats): boolean {
  return a.ino === b.ino && a.dev === b.dev && a.size === b.size && a.mtimeNs === b.mtimeNs;
}
