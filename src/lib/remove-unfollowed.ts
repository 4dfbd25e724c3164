import { closeSync, constants, openSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { errorCode } from './errors.js';
import { isThere } from './folders.js';
import { pathOfOpenFile } from './real-path.js';

/** Only a folder, and not through a link. */
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** What somebody changes faster than we remove it is given up on. */
const MAX_TRIES = 100;
/** What may happen to an entry between two looks at it. */
const CHANGED = new Set(['ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'ELOOP', 'ENOENT']);

/**
 * Removes what is at a path, with all that is in it, also while other programs change it. Each entry is removed from
 * the open folder that it is in, so nothing behind a link is touched, even if a folder becomes one meanwhile. False if
 * there is nothing, or if the way there leads through a link. Linux only.
 */
export function removeUnfollowed(path: string): boolean {
  if (!isThere(path)) return false;
  const folder = openFolder(dirname(path));
  if (folder === undefined) return false;
  try {
    if (pathOfOpenFile(folder) !== dirname(path)) return false;
    removeEntry(folder, Buffer.from(basename(path)));
    return true;
  } finally {
    closeSync(folder);
  }
}

function openFolder(path: string): number | undefined {
  try {
    return openSync(path, FOLDER);
  } catch (error) {
    if (CHANGED.has(errorCode(error) ?? '')) return undefined;
    throw error;
  }
}

function removeEntry(folder: number, name: Buffer): void {
  const path = Buffer.concat([Buffer.from(`/proc/self/fd/${folder}/`), name]);
  for (let tries = 1; ; tries++) {
    try {
      if (!isUnlinked(path)) removeFolder(path);
      return;
    } catch (error) {
      if (!CHANGED.has(errorCode(error) ?? '') || tries === MAX_TRIES) throw error;
    }
  }
}

/** False for a folder. */
function isUnlinked(path: Buffer): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT') return true;
    // Which of them says that it is a folder depends on the system.
    if (code !== 'EISDIR' && code !== 'EPERM') throw error;
    return false;
  }
}

function removeFolder(path: Buffer): void {
  const file = openSync(path, FOLDER);
  try {
    for (const name of readdirSync(`/proc/self/fd/${file}`, 'buffer')) removeEntry(file, name);
  } finally {
    closeSync(file);
  }
  rmdirSync(path);
}
