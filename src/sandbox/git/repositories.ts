import { dirname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bareRepositoryAt, looksBare, repositoryAt, type GitFolder } from '../../lib/git.js';
import { pathIn } from '../../lib/real-path.js';
import { entriesIn } from '../../lib/folders.js';

export interface FoundRepository extends GitFolder {
  /** Only a folder that looks like one. From version 2.38 on git can be told to ignore those. */
  readonly isBare: boolean;
}

/** How long folders are read before other work gets a turn. */
const TURN_MS = 30;

/** Every repository that git could find from a folder, the nearest first. Git skips incomplete ones. */
export function repositoriesAround(folder: string): FoundRepository[] {
  const found: FoundRepository[] = [];
  for (let top = folder; ; top = dirname(top)) {
    found.push(...repositoriesAt(top));
    if (dirname(top) === top) return found;
  }
}

/** Every one below a folder. Links are not followed: their targets are found where they are. */
export async function repositoriesBelow(root: string, signal: AbortSignal): Promise<FoundRepository[]> {
  const found: FoundRepository[] = [];
  const folders = [root];
  while (folders.length > 0 && !signal.aborted) {
    const turnEnd = performance.now() + TURN_MS;
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      // What we may not read git may not read either.
      const entries = entriesIn(folder);
      const has = (name: string) => entries.some((entry) => entry.name === name);
      if (has('.git') || looksBare(has)) found.push(...repositoriesAt(folder));
      for (const entry of entries)
        if (entry.isDirectory() && entry.name !== '.git') folders.push(pathIn(folder, entry.name));
      if (performance.now() > turnEnd) break;
    }
    if (folders.length > 0) await nextTurn();
  }
  return found;
}

function repositoriesAt(folder: string): FoundRepository[] {
  const own = repositoryAt(folder);
  const bare = bareRepositoryAt(folder);
  return [...(own ? [{ ...own, isBare: false }] : []), ...(bare ? [{ ...bare, isBare: true }] : [])];
}
