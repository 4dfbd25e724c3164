import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { errorCode } from './files.js';

/** As many links as Linux follows before it gives up. */
const MAX_LINKS = 40;

/**
 * Where a path really leads: every symbolic link on the way is followed, also one whose target does not exist
 * yet. Throws what the file system throws, except that missing files are fine.
 */
export function realPath(path: string, links = 0): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  const target = linkTarget(path);
  if (target !== undefined) {
    if (links >= MAX_LINKS) throw new Error(`too many symbolic links: ${path}`);
    return realPath(resolve(dirname(path), target), links + 1);
  }
  const parent = dirname(path);
  return parent === path ? path : join(realPath(parent, links), basename(path));
}

function linkTarget(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether `path` is `root` or below it. Both must be real paths. */
export function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
