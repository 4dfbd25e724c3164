import { setImmediate as nextTurn } from 'node:timers/promises';
import { looksBare } from '../../lib/git.js';
import { pathFrom, pathIn } from '../../lib/real-path.js';
import { holdsProtected, protectionOf } from '../../protocol/protected-paths.js';
import type { Boundary } from '../../protocol/sandbox.js';
import { entriesIn } from '../../lib/folders.js';

export interface GuardedPlaces {
  readonly hidden: readonly string[];
  readonly protected: readonly string[];
  /** Of those, what other programs would execute. */
  readonly executed: readonly string[];
  /** Folders of git's own, which are guarded piece by piece; also the files that point to one. */
  readonly git: readonly string[];
  /** Folders that git would take for its own, though they have other names. */
  readonly bare: readonly string[];
  /** Links in places where one of these could be. */
  readonly links: readonly string[];
}

/** How long folders are read before other work gets a turn. */
const TURN_MS = 30;

/** Finds everything below a folder that may not be read or may not be written. Links are not followed. */
export async function guardedPlaces(
  root: string,
  boundary: Boundary,
  signal: AbortSignal,
): Promise<GuardedPlaces> {
  const places = {
    hidden: [] as string[],
    protected: [] as string[],
    executed: [] as string[],
    git: [] as string[],
    bare: [] as string[],
    links: [] as string[],
  };
  const folders: { readonly path: string; readonly isProtected: boolean }[] = [
    { path: root, isProtected: false },
  ];

  function visit(path: string, isBelowProtected: boolean): void {
    // What we may not read the sandbox may not read either.
    const entries = entriesIn(path);
    const has = (name: string) => entries.some((entry) => entry.name === name);
    // Programs that may write `.git` in there may have a repository there.
    if (looksBare(has) && boundary.protects(pathIn(path, '.git'))) places.bare.push(path);
    for (const entry of entries) {
      const own = pathIn(path, entry.name);
      if (entry.isSymbolicLink()) {
        if (boundary.protects(own) || holdsProtected(pathFrom(root, own))) places.links.push(own);
        continue;
      }
      if (boundary.hides(own)) {
        places.hidden.push(own);
        continue;
      }
      if (entry.name === '.git' && boundary.protects(own)) {
        places.git.push(own);
        continue;
      }
      const isProtected = isBelowProtected || boundary.protects(own);
      if (isProtected && !isBelowProtected) {
        places.protected.push(own);
        if (protectionOf(pathFrom(root, own)) !== undefined) places.executed.push(own);
      }
      if (entry.isDirectory()) folders.push({ path: own, isProtected });
    }
  }

  while (folders.length > 0 && !signal.aborted) {
    const turnEnd = performance.now() + TURN_MS;
    for (let folder = folders.pop(); folder; folder = folders.pop()) {
      visit(folder.path, folder.isProtected);
      if (performance.now() > turnEnd) break;
    }
    if (folders.length > 0) await nextTurn();
  }
  return places;
}
