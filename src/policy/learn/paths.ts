import { dirname } from 'node:path';

/** A file that a run has touched, relative to the workspace. */
export interface SeenPath {
  readonly path: string;
  readonly run: string;
}

const FILES = 3;
const RUNS = 2;

/** Characters with a meaning in a glob: readers cannot tell a name with them from a pattern. */
export const GLOB_CHARACTERS = /[\\*?[\]{}()!+@|,^$#]/;

/** Folders that are not widened: other programs often obey what is in them. */
const SETTINGS_FOLDER = /(?:^|\/)(?:\.[^/]*|node_modules)(?:\/|$)/;

/**
 * Folders that are opened: `dir/*` from three files in two runs; `dir/**` from files in `dir`, below it and below that,
 * never for the workspace itself. That depends only on what was seen in the folder: more evidence never closes one.
 */
export function openFolders(seen: readonly SeenPath[], isWithin: (glob: string) => boolean): string[] {
  return foldersOf(seen).flatMap((folder) =>
    [`${folder}/**`, `${folder}/*`].filter((glob) => isSeenEnough(glob, seen) && isWithin(glob)).slice(0, 1),
  );
}

/** What covers a file: the topmost open folder, else its own name. */
export function globFor(path: string, open: readonly string[]): string {
  const covering = open.filter((glob) => coversFile(glob, path));
  const [widest = path] = covering.toSorted((a, b) => depthOf(a) - depthOf(b) || b.length - a.length);
  return widest;
}

function isSeenEnough(glob: string, seen: readonly SeenPath[]): boolean {
  const inside = seen.filter(({ path }) => coversFile(glob, path));
  const isOften =
    new Set(inside.map(({ path }) => path)).size >= FILES &&
    new Set(inside.map(({ run }) => run)).size >= RUNS;
  if (!isOften || glob.endsWith('/*')) return isOften;
  const above = depthOf(glob) - 1;
  const depths = new Set(inside.map(({ path }) => depthOf(path) - above));
  return [1, 2, 3].every((depth) => depths.has(depth));
}

/** Whether an open folder has a file. */
export function coversFile(glob: string, path: string): boolean {
  if (glob.endsWith('/**')) return path.startsWith(glob.slice(0, -2));
  return dirname(path) === glob.slice(0, -2);
}

/** All folders above files; not the workspace. */
function foldersOf(seen: readonly SeenPath[]): string[] {
  const folders = new Set<string>();
  for (const { path } of seen)
    for (let folder = dirname(path); folder !== '.' && folder !== '/'; folder = dirname(folder))
      if (!SETTINGS_FOLDER.test(folder)) folders.add(folder);
  return [...folders];
}

function depthOf(path: string): number {
  return path.split('/').length;
}
