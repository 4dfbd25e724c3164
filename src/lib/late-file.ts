import {
  accessSync,
  closeSync,
  constants,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
  type Stats,
} from 'node:fs';
import { randomBytes } from 'node:crypto';
import { basename, dirname, resolve } from 'node:path';
import { errorWithCode, errorCode } from './errors.js';
import { mustBeFolder } from './folders.js';
import { movedError, pathOfOpenFile, realPath } from './real-path.js';

/** For the owner only. */
export const PRIVATE = 0o600;
/** How many characters are written at once. */
const BATCH = 1 << 20;

/**
 * A file that is written later, in one go: readers see all of it or nothing. The constructor throws if it could not be
 * written, as far as that is known by then.
 */
export class LateFile {
  /** Where it really is. */
  readonly path: string;
  /** The target itself must be written into: a device, or a file in a folder that takes no new ones. */
  #inPlace: boolean;
  readonly #mode: number;

  /** `mode` of a new file, subject to the umask. */
  constructor(path: string, mode = 0o666) {
    this.#mode = mode;
    mustBeFolder(dirname(resolve(path)));
    this.path = realPath(resolve(path));
    const stats = statSync(this.path, { throwIfNoEntry: false });
    if (stats?.isDirectory()) throw errorWithCode('EISDIR', 'it is a directory');
    if (stats && !stats.isFile() && !stats.isCharacterDevice())
      throw errorWithCode('EINVAL', 'it is not a file');
    this.#inPlace = stats?.isCharacterDevice() || !this.#folderTakesFiles(stats);
    if (this.#inPlace) accessSync(this.path, constants.W_OK);
  }

  /** Removes what an earlier run has left, so that nobody takes it for this run's. */
  clear(): void {
    if (this.#inPlace) return;
    try {
      rmSync(this.path, { force: true });
    } catch (error) {
      // A file mounted into a container, or another user's in a shared folder.
      if (!['EBUSY', 'EACCES', 'EPERM'].includes(errorCode(error) ?? '')) throw error;
      accessSync(this.path, constants.W_OK);
      this.#inPlace = true;
    }
  }

  write(pieces: Iterable<string | Uint8Array>): void {
    if (this.#inPlace) {
      writeAll(openSync(this.path, constants.O_WRONLY | constants.O_TRUNC), pieces);
      return;
    }
    const folder = openSync(dirname(this.path), constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      const where = pathOfOpenFile(folder);
      if (where !== undefined && where !== dirname(this.path)) throw movedError(this.path);
      const root = where === undefined ? dirname(this.path) : `/proc/self/fd/${folder}`;
      const temporary = temporaryName(root);
      try {
        writeAll(openSync(temporary, 'wx', this.#mode), pieces);
        renameSync(temporary, `${root}/${basename(this.path)}`);
      } catch (error) {
        rmSync(temporary, { force: true });
        throw error;
      }
    } finally {
      closeSync(folder);
    }
  }

  #folderTakesFiles(stats: Stats | undefined): boolean {
    const probe = temporaryName(dirname(this.path));
    try {
      closeSync(openSync(probe, 'wx', 0o600));
      rmSync(probe);
      return true;
    } catch (error) {
      if (stats && ['EACCES', 'EPERM', 'EROFS'].includes(errorCode(error) ?? '')) return false;
      throw error;
    }
  }
}

/** Removes what processes have left in a folder that were killed while writing. */
export function removeTemporary(folder: string): void {
  for (const name of readdirSync(folder))
    if (/^\.bosun-[0-9a-f]{12}\.tmp$/.test(name)) rmSync(`${folder}/${name}`, { force: true });
}

export function temporaryName(folder: string): string {
  return `${folder}/.bosun-${randomBytes(6).toString('hex')}.tmp`;
}

/** Writes and closes. Small pieces are joined: there may be very many. */
function writeAll(file: number, pieces: Iterable<string | Uint8Array>): void {
  try {
    let batch = '';
    for (const piece of pieces) {
      if (typeof piece !== 'string') {
        writeWhole(file, batch);
        writeWhole(file, piece);
        batch = '';
        continue;
      }
      batch += piece;
      if (batch.length < BATCH) continue;
      writeWhole(file, batch);
      batch = '';
    }
    writeWhole(file, batch);
  } finally {
    closeSync(file);
  }
}

function writeWhole(file: number, piece: string | Uint8Array): void {
  const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
  for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
}
