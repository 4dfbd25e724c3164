import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Scratch } from './scratch.js';

/** No file. Other states are mode and blob, as in git. */
export const NONE = 'none';
/** Something that git does not keep. */
const ODD = 'odd';
/** How many paths to pass as arguments at once. */
const CHUNK = 500;

export function stateOf(mode: string, blob: string): string {
  return /^0+$/.test(mode) ? NONE : `${mode} ${blob}`;
}

export const splitNames = (text: string): string[] => text.split('\0').filter(Boolean);
const joinNames = (names: readonly string[]) => names.map((name) => `${name}\0`).join('');

/** What an index has at paths; missing ones are left out. */
export async function indexedStates(
  scratch: Scratch,
  index: string,
  paths: readonly string[],
): Promise<Map<string, string>> {
  const states = new Map<string, string>();
  for (let at = 0; at < paths.length; at += CHUNK) {
    const listed = await scratch.git(index, ['ls-files', '-s', '-z', '--', ...paths.slice(at, at + CHUNK)]);
    for (const entry of splitNames(listed)) {
      const [, mode = '', blob = '', path = ''] = /^(\d+) ([0-9a-f]+) \d\t([^]*)$/.exec(entry) ?? [];
      states.set(path, stateOf(mode, blob));
    }
  }
  return states;
}

/** What the tree has at paths, as git would commit it. `base` is the index that decides modes and line ends. */
export async function treeStates(
  scratch: Scratch,
  base: string,
  paths: readonly string[],
): Promise<Map<string, string>> {
  const stats = new Map(paths.map((path) => [path, entryAt(scratch.top, path)]));
  const plain = paths.filter((path) => stats.get(path)?.isFile() || stats.get(path)?.isSymbolicLink());
  scratch.copy(base, 'probe');
  await takeIn(scratch, 'probe', plain, true);
  const known = await indexedStates(scratch, 'probe', plain);
  return new Map(
    paths.map((path) => {
      const isOdd = stats.get(path) && !stats.get(path)?.isDirectory();
      return [path, known.get(path) ?? (isOdd ? ODD : NONE)];
    }),
  );
}

/** Updates files in an index from the tree, or removes them. */
export async function takeIn(
  scratch: Scratch,
  index: string,
  paths: readonly string[],
  areThere: boolean,
): Promise<void> {
  if (paths.length === 0) return;
  const how = areThere ? ['--add', '--replace'] : ['--force-remove'];
  await scratch.git(index, ['update-index', ...how, '-z', '--stdin'], joinNames(paths));
}

/** What is at a path, unless a link is on the way. */
export function entryAt(top: string, path: string): Stats | undefined {
  if (foldersOf(path).some((folder) => !lookAt(top, folder)?.isDirectory())) return undefined;
  return lookAt(top, path);
}

/** Changes whenever the file is written. */
export function signatureAt(top: string, path: string): string {
  const stats = entryAt(top, path);
  return stats ? [stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs, stats.mode].join(' ') : '';
}

/** Why a file cannot be put at a path, other than that there is one; `removed` is deleted first. */
export function obstacleAt(top: string, path: string, removed: ReadonlySet<string>): string | undefined {
  for (const folder of foldersOf(path)) {
    const stats = lookAt(top, folder);
    if (!stats || removed.has(folder)) break;
    if (!stats.isDirectory())
      return `${folder} is a ${stats.isSymbolicLink() ? 'link' : 'file'}, and the patch needs a folder there`;
  }
  const isFolder = entryAt(top, path)?.isDirectory();
  return isFolder && !isEmptied(top, path, removed)
    ? `${path} is a folder, and the patch needs a file there`
    : undefined;
}

function isEmptied(top: string, folder: string, removed: ReadonlySet<string>): boolean {
  const entries = readdirSync(join(top, folder), { withFileTypes: true });
  const isGone = (path: string, isFolder: boolean) =>
    isFolder ? isEmptied(top, path, removed) : removed.has(path);
  // A folder that is already empty belongs to someone.
  return entries.length > 0 && entries.every((one) => isGone(`${folder}/${one.name}`, one.isDirectory()));
}

/** The parent folders of a path, outermost first. */
function foldersOf(path: string): string[] {
  const above = dirname(path);
  return above === '.' ? [] : [...foldersOf(above), above];
}

function lookAt(top: string, path: string): Stats | undefined {
  return lstatSync(join(top, path), { throwIfNoEntry: false });
}
