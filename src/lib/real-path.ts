import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { attempt } from './attempt.js';
import { errorWithCode, errorCode } from './errors.js';

/** As many links as Linux follows. */
const MAX_LINKS = 40;
const UP = `${sep}..`;

/**
 * Where a path really leads: follows every symbolic link on the way, even to a target that does not exist
 * yet. Throws errors of the file system, except that missing files are fine.
 */
export function realPath(path: string, links = 0): string {
  try {
    // An exception for each missing path would cost more than looking first.
    if (lstatSync(path, { throwIfNoEntry: false })) return realpathSync.native(path);
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) throw error;
  }
  const parent = dirname(path);
  if (parent === path) return path;
  const folder = realPath(parent, links);
  const target = linkTarget(path);
  if (target === undefined) return join(folder, basename(path));
  if (links >= MAX_LINKS) throw new Error(`too many symbolic links: ${path}`);
  // A link is relative to where it is, not to where it was reached.
  return realPath(resolve(folder, target), links + 1);
}

/** Where a path leads; one that we may not see stays as it is. */
export function realPathIfSeen(path: string): string {
  return attempt(() => realPath(path)) ?? path;
}

/** Where a path in a folder leads: the system follows a link before it goes up from there. */
export function pathNamed(folder: string, path: string): string {
  if (!/(?:^|\/)\.\.(?:\/|$)/.test(path)) return resolve(folder, path);
  let place = isAbsolute(path) ? '/' : folder;
  for (const name of path.split('/')) {
    if (name === '..') place = dirname(attempt(() => realPath(place)) ?? place);
    else if (name !== '' && name !== '.') place = join(place, name);
  }
  return place;
}

/** `realPath` of several paths that often share a folder, which is resolved only once. */
export function realPaths(paths: readonly string[]): string[] {
  const folders = new Map<string, string>();
  const folderOf = (path: string) => {
    const parent = dirname(path);
    const known = folders.get(parent) ?? realPath(parent);
    folders.set(parent, known);
    return known;
  };
  return paths.map((path) => {
    const isPlain = path !== dirname(path) && attempt(() => isNoLink(path));
    return isPlain ? join(folderOf(path), basename(path)) : realPath(path);
  });
}

/** True also for a missing path. */
function isNoLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true;
}

function linkTarget(path: string): string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether `path` is `root` or below it. Both must be real paths. */
export function isInside(root: string, path: string): boolean {
  // A real path contains no `..`; in case this one does, it is resolved first.
  const plain = path.includes(UP) ? resolve(path) : path;
  return plain === root || isBelow(root, plain);
}

/** Searches call it for every file they find, so it builds no strings. */
function isBelow(root: string, path: string): boolean {
  return path.startsWith(root) && (path[root.length] === sep || root.endsWith(sep));
}

/** The path of an entry of a folder, by its name or its relative path. */
export function pathIn(folder: string, name: string): string {
  return folder.endsWith(sep) ? folder + name : folder + sep + name;
}

/** The relative path from a folder, with `/`. Both must be real paths. */
export function pathFrom(folder: string, path: string): string {
  // Most paths are inside, which is faster to check than asking Node.
  const isPlain = isBelow(folder, path) && !folder.endsWith(sep);
  const way = isPlain ? path.slice(folder.length + 1) : relative(folder, path);
  return sep === '/' ? way : way.split(sep).join('/');
}

/** A path in a form that the model can use: relative if it is in the workspace, else absolute. */
export function shownPath(workspace: string, path: string): string {
  return isInside(workspace, path) ? pathFrom(workspace, path) || '.' : path;
}

/** Throws `EMOVED` if a path leads elsewhere than when it was resolved: a link was put in its way. */
export function checkUnmoved(real: string): void {
  if (realPath(real) !== real) throw movedError(real);
}

export function movedError(path: string): Error {
  return errorWithCode('EMOVED', `${path} leads elsewhere than when the call was decided`);
}

/** The path of an open file according to the system; undefined if it does not say. */
export function pathOfOpenFile(file: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${file}`);
  } catch {
    return undefined;
  }
}
