import {
  close,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  type BigIntStats,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { errorWithCode, errorCode } from './errors.js';
import { movedError, pathOfOpenFile } from './real-path.js';
import { isStill, type FileBytes } from './regular-file.js';
import { temporaryName } from './late-file.js';

/*
 * Readers see the old content or the new one, never a mix, also if we are killed in between. Paths are real ones;
 * the folder is opened once and everything happens inside it, so that a link put in the way meanwhile changes
 * nothing. Synchronous: trips through the thread pool would take longer than the work.
 */

/** Creates a file. Throws `EAPPEARED` rather than overwrite one that has appeared meanwhile. */
export function createFile(path: string, data: string | Uint8Array): BigIntStats {
  return inFolder(path, (folder, name) => {
    const temporary = temporaryName(folder);
    try {
      const stats = writeNew(temporary, data);
      publish(temporary, `${folder}/${name}`);
      return stats;
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
      throw errorWithCode('EAPPEARED', `${path} exists already`);
    } finally {
      rmSync(temporary, { force: true });
    }
  });
}

export interface Replaced {
  readonly stats: BigIntStats;
  /** Another program wrote into the old file at the moment it was replaced; those changes are lost. */
  readonly overtaken: boolean;
}

/**
 * Replaces the content of a file that was read before; mode and owner stay. Throws `ECHANGED`, with nothing
 * written, if the file has changed since it was read. The remaining race is the time between two system calls,
 * and a write into the old file is noticed even then.
 */
export function replaceFile(path: string, data: string | Uint8Array, was: FileBytes): Replaced {
  return inFolder(path, (folder, name) => {
    const temporary = temporaryName(folder);
    let old: number | undefined;
    try {
      const stats = writeNew(temporary, data, was.stats);
      old = openOld(`${folder}/${name}`);
      if (old === undefined || !isStill(old, was)) throw errorWithCode('ECHANGED', `${path} has changed`);
      renameSync(temporary, `${folder}/${name}`);
      return { stats, overtaken: !isStill(old, was, { replaced: true }) };
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    } finally {
      // Closing the old file frees its disk space, which nobody has to wait for.
      if (old !== undefined) close(old, () => {});
    }
  });
}

function inFolder<T>(path: string, work: (folder: string, name: string) => T): T {
  const folder = openSync(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    const where = pathOfOpenFile(folder);
    if (where !== undefined && where !== dirname(path)) throw movedError(path);
    return work(where === undefined ? dirname(path) : `/proc/self/fd/${folder}`, basename(path));
  } finally {
    closeSync(folder);
  }
}

function writeNew(path: string, data: string | Uint8Array, like?: BigIntStats): BigIntStats {
  const file = openSync(path, 'wx', like ? Number(like.mode) & 0o777 : 0o666);
  try {
    writeFileSync(file, data);
    // The umask narrows the mode of a new file, and a new owner clears its set-id bits.
    if (like) fchmodSync(file, Number(like.mode) & (keepOwner(file, like) ? 0o7777 : 0o777));
    return fstatSync(file, { bigint: true });
  } finally {
    closeSync(file);
  }
}

/** Only root may give a file away; its owner may give it to one of their groups. */
function keepOwner(file: number, { uid, gid }: BigIntStats): boolean {
  const own = fstatSync(file, { bigint: true });
  if (own.uid === uid && own.gid === gid) return true;
  try {
    fchownSync(file, own.uid === uid ? -1 : Number(uid), Number(gid));
    return true;
  } catch {
    return false;
  }
}

/** Unlike a rename, a link fails if the target exists. */
function publish(temporary: string, target: string): void {
  try {
    linkSync(temporary, target);
  } catch (error) {
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(errorCode(error) ?? '')) throw error;
    // A file system without hard links: an empty file takes the name first.
    closeSync(openSync(target, 'wx'));
    renameSync(temporary, target);
  }
}

/** Undefined if it is gone, or is not a file any more. */
function openOld(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (error) {
    if (['ENOENT', 'ELOOP', 'ENXIO'].includes(errorCode(error) ?? '')) return undefined;
    throw error;
  }
}
