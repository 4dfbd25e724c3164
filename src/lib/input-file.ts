import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { errorCode } from './errors.js';
import { readRegularFile } from './regular-file.js';

/** The bytes of a file, or the pipe that it is (`<(command)`). Throws EFBIG if a file has more than `maxBytes`. */
export function openInputFile(path: string, maxBytes: number): Buffer | Readable {
  try {
    return readRegularFile(path, maxBytes).bytes;
  } catch (error) {
    const pipe = errorCode(error) === 'ENOTREG' ? openPipe(path) : undefined;
    if (pipe) return pipe;
    throw error;
  }
}

/** A pipe, read without a waiting thread, which would keep the process from ending. */
function openPipe(path: string): Readable | undefined {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  if (fstatSync(fd).isFIFO()) return new Socket({ fd, readable: true, writable: false });
  closeSync(fd);
  return undefined;
}
