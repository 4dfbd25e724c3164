import { readdirSync, type Dirent } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PATTERN_MS, withTimeLimit } from './time-limit.js';
import type { IgnoreFolder } from './ignore-rules.js';

export interface WalkRequest {
  /** A real path. */
  readonly root: string;
  /** What to ignore; without it, everything but `.git` is seen. */
  readonly ignored: IgnoreFolder;
  /** Whether to enter a folder, by its path from the root with `/`. */
  readonly enter?: (path: string) => boolean;
  /** Whether a file is wanted, by its path from the root with `/`. */
  readonly wanted: (path: string) => boolean;
  readonly signal: AbortSignal;
}

export interface WalkedFile {
  /** From the root, with `/`. */
  readonly path: string;
  /** A symbolic link: the caller has to find out where it leads. */
  readonly isLink: boolean;
}

export interface Walk {
  readonly files: readonly WalkedFile[];
  /** Folders that could not be read. */
  readonly unreadable: number;
}

interface Folder {
  readonly path: string;
  /** The rules at the folder, once it is known whether it has its own. */
  readonly ignored: (ownRules: boolean) => IgnoreFolder;
}

/** How long folders are read before other work gets a turn. A slow disk is no slow pattern. */
const TURN_MS = 50;

/** Finds files below a folder. Links are not followed, and git's own folder is not entered. */
export async function walk({ root, ignored, enter, wanted, signal }: WalkRequest): Promise<Walk> {
  const files: WalkedFile[] = [];
  let unreadable = 0;
  const folders: Folder[] = [{ path: '', ignored: () => ignored }];

  function visit(folder: Folder): void {
    let entries: Dirent[];
    try {
      entries = readdirSync(folder.path === '' ? root : `${root}/${folder.path}`, { withFileTypes: true });
    } catch {
      unreadable++;
      return;
    }
    const prefix = folder.path === '' ? '' : `${folder.path}/`;
    const here = folder.ignored(entries.some(({ name }) => name === '.gitignore'));
    for (const entry of entries) {
      const { name } = entry;
      if (name === '.git') continue;
      const path = prefix + name;
      if (entry.isDirectory()) {
        if (enter && !enter(path)) continue;
        if (!here.ignores(name, true)) folders.push({ path, ignored: (own) => here.enter(name, own) });
      } else if ((entry.isFile() || entry.isSymbolicLink()) && wanted(path)) {
        if (!here.ignores(name, false)) files.push({ path, isLink: entry.isSymbolicLink() });
      }
    }
  }

  while (folders.length > 0 && !signal.aborted) {
    const turnEnd = performance.now() + TURN_MS;
    withTimeLimit(PATTERN_MS, () => {
      while (folders.length > 0 && performance.now() < turnEnd) visit(folders.pop() as Folder);
    });
    if (folders.length > 0) await nextTurn();
  }
  return { files, unreadable };
}
