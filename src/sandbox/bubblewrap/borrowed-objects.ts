import { lstatSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { isThere } from '../../lib/folders.js';
import { bareRepositoryAt } from '../../lib/git.js';
import { alternatesFile, alternatesOf, type Alternate } from '../../lib/git-alternates.js';
import { isInside, realPath } from '../../lib/real-path.js';
import { separateFolder, settingsBelow } from './git-places.js';
import { linkedWorktree } from './linked-worktree.js';
import { MACHINE_SECRETS } from './system-places.js';

export interface BorrowedObjects {
  readonly shown: readonly Alternate[];
  /** Why git will not find all objects, if so. */
  readonly faults: readonly string[];
}

export interface BorrowSettings {
  readonly roots: readonly string[];
  /** What else commands may write. */
  readonly writable: readonly string[];
  /** Whether a policy keeps a path from being read. */
  readonly hides: (path: string) => boolean;
}

/**
 * The objects that the workspace's repositories borrow from others (`git clone --shared`). Anybody can name a folder to
 * borrow from: it is shown only if it holds nothing but git's objects.
 */
export function borrowedObjects(settings: BorrowSettings): BorrowedObjects {
  const shown = new Map<string, Alternate>();
  const faults: string[] = [];
  for (const root of settings.roots) {
    for (const objects of ownObjects(root)) {
      const found = alternatesOf(objects, (alternate) => {
        const fault = alternateFault(alternate, settings);
        if (fault !== undefined)
          faults.push(`git in ${root} lacks objects in the sandbox: ${alternate.named} ${fault}`);
        return fault === undefined && !isWritable(alternate.real, settings);
      });
      for (const alternate of found) shown.set(alternate.named, alternate);
    }
  }
  return { shown: [...shown.values()], faults };
}

/** Where the repository of a working tree keeps its objects and its submodules' objects. */
function ownObjects(root: string): string[] {
  const git = repositoryOf(root);
  if (git === undefined) return [];
  const modules = settingsBelow(join(git, 'modules')).map((file) => dirname(file));
  return [git, ...new Set(modules)].map((folder) => join(folder, 'objects'));
}

function repositoryOf(root: string): string | undefined {
  const path = join(root, '.git');
  const stats = attempt(() => lstatSync(path));
  if (stats?.isDirectory()) return path;
  const elsewhere = stats?.isFile() ? separateFolder(path) : undefined;
  if (elsewhere === undefined) return undefined;
  return isInside(root, elsewhere) ? elsewhere : linkedWorktree(path, elsewhere)?.common;
}

function alternateFault({ named, real }: Alternate, settings: BorrowSettings): string | undefined {
  if (!attempt(() => statSync(real).isDirectory())) return 'does not exist';
  // Else programs that may change the link decide what is shown next.
  if (isWritable(named, settings) && !isWritable(real, settings)) return 'is a link out of the workspace';
  const isHidden = (path: string) =>
    settings.hides(path) || MACHINE_SECRETS.some((place) => isInside(place, path));
  if (isHidden(real) || isHidden(named)) return 'is hidden by the policy';
  if (isWritable(real, settings) && isThere(alternatesFile(real)))
    return 'borrows objects from a place that commands can change';
  return isObjectsFolder(real) ? undefined : 'is not a folder of git objects';
}

function isWritable(path: string, { roots, writable }: BorrowSettings): boolean {
  return [...roots, ...writable].some((root) => isInside(root, path));
}

/** Everything that git itself keeps there, locks and half-written objects included. */
const OBJECTS = /^([0-9a-f]{2}|pack|info|(tmp_|\.tmp-|incoming-|bulk-fsync-).*|\w+\.lock)$/;

function isObjectsFolder(path: string): boolean {
  const entries = attempt(() => readdirSync(path)) ?? [];
  const isRepository = basename(path) === 'objects' && bareRepositoryAt(dirname(path)) !== undefined;
  const isWhole = ['info', 'pack'].every((name) => isThere(join(path, name)));
  return isRepository && isWhole && realPath(path) === path && entries.every((name) => OBJECTS.test(name));
}
