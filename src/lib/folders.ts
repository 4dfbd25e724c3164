import {
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  statSync,
  type Dirent,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { attempt } from './attempt.js';
import { errorWithCode, errorCode } from './errors.js';
import { movedError, pathOfOpenFile } from './real-path.js';

/** Creates a folder and its missing parents. (Node's own function never ends on /proc.) */
export function makeFolders(path: string, mode = 0o777): void {
  try {
    makeFolder(path, mode);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' || dirname(path) === path) throw error;
    makeFolders(dirname(path), mode);
    makeFolder(path, mode);
  }
}

/** Another process may create the same one at the same time. */
function makeFolder(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST' || !statSync(path).isDirectory()) throw error;
  }
}

/** Whether a path leads to a folder that we may see. */
export function isFolder(path: string): boolean {
  return attempt(() => statSync(path).isDirectory()) ?? false;
}

/** What is in a folder; nothing if it cannot be read. */
export function entriesIn(folder: string): Dirent[] {
  return attempt(() => readdirSync(folder, { withFileTypes: true })) ?? [];
}

/** Throws if there is no such folder: creating one would turn a typo into a place where nobody looks. */
export function mustBeFolder(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) throw errorWithCode('ENOENT', `the folder ${path} does not exist`);
  if (!stats.isDirectory()) throw errorWithCode('ENOTDIR', `${path} is not a folder`);
}

/**
 * Creates the folders of a real path. Each is created inside the open one above it, so that nothing is created
 * behind a link that is put in the way meanwhile: that is `EMOVED`.
 */
export function makeRealFolders(path: string): void {
  closeSync(openFolder(path));
}

function openFolder(path: string): number {
  const file = openExisting(path) ?? openMade(path);
  const where = pathOfOpenFile(file);
  if (where === undefined || where === path) return file;
  closeSync(file);
  throw movedError(path);
}

function openExisting(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  } catch (error) {
    // If a file is in its place, the attempt to create it says so.
    const isMissing = errorCode(error) === 'ENOENT' || isThere(path);
    if (!isMissing || dirname(path) === path) throw error;
    return undefined;
  }
}

function openMade(path: string): number {
  const above = openFolder(dirname(path));
  try {
    const folder = pathOfOpenFile(above) === undefined ? dirname(path) : `/proc/self/fd/${above}`;
    const made = `${folder}/${basename(path)}`;
    try {
      mkdirSync(made);
    } catch (error) {
      if (errorCode(error) !== 'EEXIST' || !lstatSync(made).isDirectory()) throw error;
    }
    return openSync(made, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } finally {
    closeSync(above);
  }
}

/** Whether something exists, even a dangling link. */
export function isThere(path: string): boolean {
  // Usually it does not, and an exception costs ten times as much as this look.
  return attempt(() => lstatSync(path, { throwIfNoEntry: false })) !== undefined;
}
