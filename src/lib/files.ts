import { randomBytes } from 'node:crypto';
import { chmodSync, closeSync, constants, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { movedError, pathOfOpenFile } from './real-path.js';

/**
 * Readers see the old content or the new one, never a mix, also if we are killed in between. `path` is a real path;
 * its folder is opened once and everything happens inside it, so that a link put in the way meanwhile changes
 * nothing. Synchronous: trips through the thread pool would take longer than the work.
 */
export function writeAtomically(path: string, data: string | Uint8Array, mode?: number): void {
  const folder = openSync(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    const where = pathOfOpenFile(folder);
    if (where !== undefined && where !== dirname(path)) throw movedError(path);
    const base = where === undefined ? dirname(path) : `/proc/self/fd/${folder}`;
    replaceIn(base, basename(path), data, mode);
  } finally {
    closeSync(folder);
  }
}

function replaceIn(folder: string, name: string, data: string | Uint8Array, mode?: number): void {
  const temporary = `${folder}/.bosun-${randomBytes(6).toString('hex')}.tmp`;
  try {
    writeFileSync(temporary, data, { flag: 'wx', ...(mode === undefined ? {} : { mode }) });
    // What a file is created with is narrowed by the umask.
    if (mode !== undefined) chmodSync(temporary, mode);
    renameSync(temporary, `${folder}/${name}`);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
