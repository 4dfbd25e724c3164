import { dirname } from 'node:path';

/** A file that a run has touched, from the workspace. */
export interface SeenPath {
  readonly path: string;
  readonly run: string;
}

const FILES = 3;
const RUNS = 2;
const DEPTHS = 3;

/** Characters that mean something in a glob: a name with them cannot be told from a pattern by whoever reads it. */
export const GLOB_CHARACTERS = /[\\*?[\]{}()!+@|,^$#]/;

/** Folders that are not widened: what lies in them is often obeyed by other programs. */
const SETTINGS_FOLDER = /(?:^|\/)(?:\.[^/]*|node_modules)(?:\/|$)/;

/**
 * The pattern that covers each file: itself; `dir/*` from three files in two runs; `dir/**` from files at three depths
 * below, never for the workspace itself. Of folders that would do, the deepest is taken.
 */
export function globsFor(
  seen: readonly SeenPath[],
  isWithin: (glob: string) => boolean,
): ReadonlyMap<string, string> {
  const globs = new Map<string, string>();
  const rest = () => seen.filter(({ path }) => !globs.has(path));
  const cover = (glob: string, covered: readonly SeenPath[]) =>
    covered.forEach(({ path }) => globs.set(path, glob));
  for (const folder of foldersOf(seen)) {
    const below = rest().filter(({ path }) => path.startsWith(`${folder}/`));
    const depths = new Set(below.map(({ path }) => path.slice(folder.length + 1).split('/').length));
    if (depths.size >= DEPTHS && isEnough(below) && isWithin(`${folder}/**`)) cover(`${folder}/**`, below);
  }
  for (const folder of foldersOf(rest())) {
    const inside = rest().filter(({ path }) => dirname(path) === folder);
    if (isEnough(inside) && isWithin(`${folder}/*`)) cover(`${folder}/*`, inside);
  }
  for (const { path } of rest()) globs.set(path, path);
  return globs;
}

function isEnough(seen: readonly SeenPath[]): boolean {
  return (
    new Set(seen.map(({ path }) => path)).size >= FILES && new Set(seen.map(({ run }) => run)).size >= RUNS
  );
}

/** All folders above files, the deepest first; not the workspace. */
function foldersOf(seen: readonly SeenPath[]): string[] {
  const folders = new Set<string>();
  for (const { path } of seen)
    for (let folder = dirname(path); folder !== '.' && folder !== '/'; folder = dirname(folder))
      if (!SETTINGS_FOLDER.test(folder)) folders.add(folder);
  const depth = (folder: string) => folder.split('/').length;
  return [...folders].toSorted((a, b) => depth(b) - depth(a) || a.localeCompare(b));
}
