import { sha256 } from './ids.js';
import { readRegularFile } from './regular-file.js';

const MAX_BYTES = 4 * 1024 * 1024;

/** The hash of a file. Undefined if it is not a file, cannot be read, or is far larger than a script. */
export function fileHash(file: string): string | undefined {
  try {
    return sha256(readRegularFile(file, MAX_BYTES).bytes);
  } catch {
    return undefined;
  }
}
