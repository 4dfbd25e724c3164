import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { errorWithCode } from './errors.js';

const CHUNK = 1 << 20;

export interface SeenFile {
  /** Its state in one word, equal if and only if nothing changed. Its times do not count. */
  readonly state: string;
  /** Absent if it is longer than asked for, or cannot be read. Of a link, its target. */
  readonly content?: Buffer;
}

/** Looks at a file or a link; the content is kept up to `most` bytes. */
export function seeFile(path: string, isLink: boolean, most = 0): SeenFile {
  return stateOrError(() => {
    if (isLink) return readLink(path);
    const reading = readFingerprint(path, most);
    let step = reading.next();
    while (!step.done) step = reading.next();
    return step.value;
  });
}

/** `seeFile` for a long file: other work gets a turn now and then, and may end it. */
export async function seeLongFile(path: string, signal: AbortSignal): Promise<SeenFile> {
  const reading = readFingerprint(path, 0);
  try {
    for (;;) {
      const step = stateOrError(() => reading.next());
      if ('state' in step) return step;
      if (step.done) return step.value;
      await nextTurn();
      signal.throwIfAborted();
    }
  } finally {
    reading.return(NO_FILE);
  }
}

function stateOrError<T>(look: () => T): T | SeenFile {
  try {
    return look();
  } catch (error) {
    return { state: `unreadable ${(error as NodeJS.ErrnoException).code ?? ''}` };
  }
}

const NO_FILE: SeenFile = { state: 'unreadable' };

function readLink(path: string): SeenFile {
  const target = readlinkSync(path);
  return { state: `link ${target}`, content: Buffer.from(target) };
}

function* readFingerprint(path: string, most: number): Generator<void, SeenFile> {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const stats = fstatSync(file);
    // A pipe or a device may have no end.
    if (!stats.isFile()) throw errorWithCode('ENOTREG', `${path} is not a regular file`);
    const { mode, size } = stats;
    const hash = createHash('sha1');
    const isKept = size <= most;
    const kept: Buffer[] = [];
    const chunk = Buffer.allocUnsafe(Math.min(size, CHUNK));
    // What is appended meanwhile does not count: a log may grow as fast as we read.
    for (let left = size; left > 0;) {
      const n = readSync(file, chunk, 0, Math.min(left, chunk.length), null);
      if (n === 0) break;
      left -= n;
      const piece = chunk.subarray(0, n);
      hash.update(piece);
      if (isKept) kept.push(Buffer.from(piece));
      yield;
    }
    const state = `file ${mode & 0o111 ? 'x' : '-'} ${hash.digest('hex')}`;
    return isKept ? { state, content: Buffer.concat(kept) } : { state };
  } finally {
    closeSync(file);
  }
}
