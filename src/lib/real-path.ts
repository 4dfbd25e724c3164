import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { attempt } from './attempt.js';
import { coded, errorCode } from './errors.js';

/** As many links as Linux follows before it gives up. */
const MAX_LINKS = 40;
const UP = `${sep}..`;

/**
 * Where a path really leads: every symbolic link on the way is followed, also one whose target does not exist
 * yet. Throws what the file system throws, except that missing files are fine.
 */
export function realPath(path: string, links = 0): string {
  try {
    // An exception for each path that is not there would cost more than looking first.
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
  // A link counts from where it is, not from where it was reached.
  return realPath(resolve(folder, target), links + 1);
}

/** Where a path leads that is named in a folder: the system follows a link before it goes up from there. */
export function pathNamed(folder: string, path: string): string {
  if (!/(?:^|\/)\.\.(?:\/|$)/.test(path)) return resolve(folder, path);
  let place = isAbsolute(path) ? '/' : folder;
  for (const name of path.split('/')) {
    if (name === '..') place = dirname(attempt(() => realPath(place)) ?? place);
    else if (name !== '' && name !== '.') place = join(place, name);
  }
  return place;
}

/** `realPath` of several paths that are often in one folder: where that leads is looked up once. */
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

/** Also of one that is not there. */
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
  // A real path has no `..` in it; one that is none shall not get far.
  const plain = path.includes(UP) ? resolve(path) : path;
  return plain === root || isBelow(root, plain);
}

/** Searches ask it about every file they find: no string is put together for it. */
function isBelow(root: string, path: string): boolean {
  return path.startsWith(root) && (path[root.length] === sep || root.endsWith(sep));
}

/** The path of what a folder has under a name, or a way down. */
export function pathIn(folder: string, name: string): string {
  return folder.endsWith(sep) ? folder + name : folder + sep + name;
}

/** The way from a folder to a path, with `/`. Both must be real paths. */
export function pathFrom(folder: string, path: string): string {
  // Most paths are inside, and that is told faster than by asking Node.
  const isPlain = isBelow(folder, path) && !folder.endsWith(sep);
  const way = isPlain ? path.slice(folder.length + 1) : relative(folder, path);
  return sep === '/' ? way : way.split(sep).join('/');
}

/** A path as the model can use it again: from the workspace where it is inside, else whole. */
export function shownPath(workspace: string, path: string): string {
  return isInside(workspace, path) ? pathFrom(workspace, path) || '.' : path;
}

/**
 * Throws `EMOVED` if a path no longer leads where it did when it was resolved: somebody has put a link in its way.
 */
export function checkUnmoved(real: string): void {
  if (realPath(real) !== real) throw movedError(real);
}

export function movedError(path: string): Error {
  return coded('EMOVED', `${path} leads elsewhere than when it was decided`);
}

/** Where an open file is, by the system's word; undefined where it does not say. */
export function pathOfOpenFile(file: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${file}`);
  } catch {
    return undefined;
  }
}
