import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { isThere } from '../../lib/folders.js';
import { realPath } from '../../lib/real-path.js';
import { readRegularFile } from '../../lib/regular-file.js';

/** Names further folders to read objects from: the sandbox of the next run would show them. */
export const ALTERNATES = join('objects', 'info', 'alternates');
/** What in git's own folder can make git run code, now or in another worktree, or lead it elsewhere. */
const GUARDED = ['hooks', 'commondir', 'modules', 'worktrees', ALTERNATES];
/** What must not come into being: git would follow it elsewhere, or could not take a token out of its settings again. */
const NEVER_NEW = ['config', 'config.worktree', 'hooks', 'commondir', 'modules', 'config.lock', ALTERNATES];

export interface GitPlaces {
  /** To be shown read-only. */
  readonly guarded: readonly string[];
  /** Files with settings: its own, and those of submodules and worktrees. Read-only, and without tokens. */
  readonly settings: readonly string[];
  /** Not there, and to stay so. */
  readonly absent: readonly string[];
}

/** Of git's own folder: everything else in it stays writable, so that commits can be made. */
export function gitPlaces(folder: string): GitPlaces {
  const settings = ['config', 'config.worktree'].map((name) => join(folder, name)).filter(isThere);
  return {
    guarded: GUARDED.map((name) => join(folder, name)).filter(isThere),
    settings: [
      ...settings,
      ...settingsBelow(join(folder, 'modules')),
      ...settingsBelow(join(folder, 'worktrees')),
    ],
    absent: NEVER_NEW.map((name) => join(folder, name)).filter((path) => !isThere(path)),
  };
}

/** Submodules may have submodules, but not without end. */
const MAX_DEPTH = 12;

/** Files of settings below a folder of git's own. */
export function settingsBelow(folder: string, depth = 0): string[] {
  const entries = attempt(() => readdirSync(folder, { withFileTypes: true })) ?? [];
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory())
      return depth < MAX_DEPTH && entry.name !== 'objects' ? settingsBelow(path, depth + 1) : [];
    return entry.isFile() && /^config(\.worktree)?$/.test(entry.name) ? [path] : [];
  });
}

/** In a folder that looks like git's own without being called so: all that git obeys. The rest may be somebody's data. */
export function obeyedIn(folder: string): string[] {
  return ['config', 'config.worktree', 'hooks', 'commondir'].map((name) => join(folder, name));
}

/** Removes what has come into being all the same; returns what that was. Not through a link, which leads elsewhere. */
export function sweep(absent: readonly string[]): string[] {
  const found = absent.filter(
    (path) => isThere(path) && attempt(() => realPath(dirname(path))) === dirname(path),
  );
  for (const path of found) rmSync(path, { recursive: true, force: true });
  return found;
}

/** Makes the folders that are missing on the way to a path; returns them, the deepest first. */
export function makePlaceholders(root: string, way: readonly string[]): string[] {
  const made: string[] = [];
  let path = root;
  for (const name of way) {
    path = join(path, name);
    if (makeFolder(path)) made.unshift(path);
  }
  return made;
}

/** False if it is there already, or nobody can make it. */
export function makeFolder(path: string): boolean {
  return !isThere(path) && (attempt(() => (mkdirSync(path, 0o700), true)) ?? false);
}

/** The folder that a file called `.git` stands for, if there is a repository in it. */
export function separateFolder(file: string): string | undefined {
  const text = attempt(() => readRegularFile(file, 10_000).bytes.toString('utf8')) ?? '';
  const [, way] = /^gitdir: (.+)/.exec(text) ?? [];
  const folder = way && attempt(() => realPath(resolve(dirname(file), way)));
  return folder && isThere(join(folder, 'HEAD')) ? folder : undefined;
}
