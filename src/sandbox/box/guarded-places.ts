import { readdirSync, type Dirent } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pathIn } from '../../lib/real-path.js';
import type { Boundary } from '../../protocol/sandbox.js';

export interface GuardedPlaces {
  readonly hidden: readonly string[];
  readonly protected: readonly string[];
  /** Folders of git's own, which are guarded piece by piece; also the files that stand for one. */
  readonly git: readonly string[];
}

/** How long folders are read before others get a turn. */
const TURN_MS = 30;

/** Finds everything below a folder that must not be read or not be written. Links are not followed. */
export async function guardedPlaces(
  root: string,
  boundary: Boundary,
  signal: AbortSignal,
): Promise<GuardedPlaces> {
  const places = { hidden: [] as string[], protected: [] as string[], git: [] as string[] };
  const folders: { readonly path: string; readonly isProtected: boolean }[] = [
    { path: root, isProtected: false },
  ];

  function visit(path: string, isBelowProtected: boolean): void {
    for (const entry of entriesOf(path)) {
      const own = pathIn(path, entry.name);
      if (entry.isSymbolicLink()) continue;
      if (boundary.hides(own)) {
        places.hidden.push(own);
        continue;
      }
      if (entry.name === '.git' && boundary.protects(own)) {
        places.git.push(own);
        continue;
      }
      const isProtected = isBelowProtected || boundary.protects(own);
      if (isProtected && !isBelowProtected) places.protected.push(own);
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

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // Whom we may not read the box may not read either.
    return [];
  }
}
