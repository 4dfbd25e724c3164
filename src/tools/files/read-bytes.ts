import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import type { ToolError } from '../../protocol/tool-error.js';
import { fsError } from './fs-error.js';

export const MAX_FILE_BYTES = 20 * 1024 * 1024;

export interface FileBytes {
  readonly bytes: Buffer;
  readonly stats: Stats;
}

/**
 * The content of a regular file. What is checked is what is read: the checks are made on the open file, and
 * opening it cannot block, whatever a name turns out to be (a FIFO, a device). Synchronous, because for the
 * sizes allowed here the thread pool costs more than it saves.
 */
export function readBytes(path: string, shown: string): FileBytes | ToolError {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = fstatSync(file);
    if (stats.isDirectory()) {
      return {
        type: 'target_is_directory',
        message: `${shown} is a directory. List it with list_directory.`,
      };
    }
    if (!stats.isFile()) return { type: 'read_content_failure', message: `${shown} is not a regular file.` };
    if (stats.size > MAX_FILE_BYTES) {
      return {
        type: 'file_too_large',
        message: `${shown} has ${stats.size} bytes; at most ${MAX_FILE_BYTES} can be read.`,
      };
    }
    return { bytes: readAll(file, stats.size), stats };
  } catch (error) {
    return fsError(error, shown, 'read_content_failure');
  } finally {
    if (file !== undefined) closeSync(file);
  }
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
