import { mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { isThere, entriesIn } from '../../lib/folders.js';
import { realPath } from '../../lib/real-path.js';
import { readRegularFile } from '../../lib/regular-file.js';
import { removeUnfollowed } from '../../lib/remove-unfollowed.js';

/** Names further folders to read objects from: the next run's sandbox would show them. */
export const ALTERNATES = join('objects', 'info', 'alternates');
/** What in git's own folder can make git run code, now or in another worktree, or lead it elsewhere. */
const GUARDED = ['hooks', 'commondir', 'modules', 'worktrees', ALTERNATES];
/** What must not be created: git would follow it elsewhere, or could not remove a token from its settings again. */
const NEVER_NEW = ['config', 'config.worktree', 'hooks', 'commondir', 'modules', 'config.lock', ALTERNATES];

export interface GitPlaces {
  /** Shown read-only. */
  readonly guarded: readonly string[];
  /** Settings files: its own, and those of submodules and worktrees. Read-only, and without tokens. */
  readonly settings: readonly string[];
  /** Absent, and must stay so. */
  readonly absent: readonly string[];
}

/** For git's own folder: everything else in it stays writable, so that commits can be made. */
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

/** Submodules may have submodules, up to this depth. */
const MAX_DEPTH = 12;

/** Settings files below a folder of git's own. */
export function settingsBelow(folder: string, depth = 0): string[] {
  const entries = entriesIn(folder);
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory())
      return depth < MAX_DEPTH && entry.name !== 'objects' ? settingsBelow(path, depth + 1) : [];
    return entry.isFile() && /^config(\.worktree)?$/.test(entry.name) ? [path] : [];
  });
}

/** In a folder that looks like git's own under another name: all that git obeys. The rest may be ordinary data. */
export function obeyedIn(folder: string): string[] {
  return ['config', 'config.worktree', 'hooks', 'commondir'].map((name) => join(folder, name));
}

/**
 * Removes what was created all the same, and returns it. Not through a link, which leads elsewhere. Servers and other
 * commands of the sandbox may still be running, and change it under our hands.
 */
export function removeCreated(absent: readonly string[]): string[] {
  return absent.filter(removeUnfollowed);
}

/** Makes the missing folders on the way to a path; returns them, the deepest first. */
export function makePlaceholders(root: string, way: readonly string[]): string[] {
  const made: string[] = [];
  let path = root;
  for (const name of way) {
    path = join(path, name);
    if (makeFolder(path)) made.unshift(path);
  }
  return made;
}

/** False if it exists already, or cannot be made. */
export function makeFolder(path: string): boolean {
  return !isThere(path) && (attempt(() => (mkdirSync(path, 0o700), true)) ?? false);
}

/** The folder that a file called `.git` points to, if there is a repository in it. */
export function separateFolder(file: string): string | undefined {
  const text = attempt(() => readRegularFile(file, 10_000).bytes.toString('utf8')) ?? '';
  const [, way] = /^gitdir: (.+)/.exec(text) ?? [];
  const folder = way && attempt(() => realPath(resolve(dirname(file), way)));
  return folder && isThere(join(folder, 'HEAD')) ? folder : undefined;
}
