import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';

import { movedError, pathOfOpenFile } from './real-path.js';

export interface FileBytes {
  readonly bytes: Buffer;
  readonly stats: Stats;
}

/**
 * The content of a regular file. What is checked is what is read: the checks are made on the open file, and
 * opening it cannot block, whatever its name turns out to be (a FIFO, a device). Throws errors with a `code`:
 * the system's, `ENOTREG` for what is no regular file, `EFBIG` for what is too large, `EMOVED` (if `unmoved` is
 * asked for) where the real path that was given leads elsewhere by now. Synchronous, because for
 * ordinary files the thread pool costs more than it saves.
 */
export function readRegularFile(
  path: string,
  maxBytes = Number.MAX_SAFE_INTEGER,
  { unmoved = false } = {},
): FileBytes {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    if (unmoved && (pathOfOpenFile(file) ?? path) !== path) throw movedError(path);
    const stats = fstatSync(file);
    if (stats.isDirectory()) throw coded('EISDIR', `${path} is a directory`);
    if (!stats.isFile()) throw coded('ENOTREG', `${path} is not a regular file`);
    if (stats.size > maxBytes) throw coded('EFBIG', `${path} has ${stats.size} bytes, more than ${maxBytes}`);
    return { bytes: readAll(file, stats.size), stats };
  } finally {
    closeSync(file);
  }
}

function coded(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

function readAll(file: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  let done = 0;
  while (done < size) {
    const n = readSync(file, bytes, done, size - done, null);
    if (n === 0) break;
    done += n;
  }
  return bytes.subarray(0, done);
}
