import { statSync, type Stats } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { readRegularFile } from './regular-file.js';

/** Git's own files are small, except packed references. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The commit that is checked out, read from git's files; null outside a repository or before its first commit. */
export function gitHead(folder: string): string | null {
  const found = gitFolder(folder);
  if (!found) return null;
  const head = trimmedText(join(found.git, 'HEAD'));
  const reference = /^ref: (.+)$/.exec(head)?.[1];
  if (reference === undefined) return commit(head);
  return commit(trimmedText(join(found.common, reference))) ?? packed(found.common, reference);
}

export interface GitFolder {
  /** The top of the working tree. */
  readonly top: string;
  readonly git: string;
  /** Where a worktree keeps what it shares with the main repository; otherwise equals `git`. */
  readonly common: string;
}

/** The repository that a folder is in. */
export function gitFolder(folder: string): GitFolder | undefined {
  for (let top = folder; ; top = dirname(top)) {
    const found = repositoryAt(top);
    if (found) return found;
    if (dirname(top) === top) return undefined;
  }
}

/** The repository whose working tree has its top here. */
export function repositoryAt(top: string): GitFolder | undefined {
  const candidate = join(top, '.git');
  const stats = statsAt(candidate);
  const git = stats?.isFile() ? resolve(top, trimmedText(candidate).replace(/^gitdir: /, '')) : candidate;
  return stats && (stats.isFile() || statsAt(join(git, 'HEAD'))) ? gitFolderAt(top, git) : undefined;
}

/** A folder that git takes for a git folder, whatever its name: anyone can commit one. */
export function bareRepositoryAt(folder: string): GitFolder | undefined {
  return looksBare((name) => statsAt(join(folder, name)) !== undefined)
    ? gitFolderAt(folder, folder)
    : undefined;
}

/** The same check, by a folder's entries. */
export function looksBare(has: (name: string) => boolean): boolean {
  return has('HEAD') && ((has('objects') && has('refs')) || has('commondir'));
}

/** What git obeys in a git folder. */
const OBEYED = /^(config|config\.worktree|hooks|commondir)$/i;
/** Without a file of this name, a folder is not a git folder. */
const MAKES_REPOSITORY = process.platform === 'linux' ? /^HEAD$/ : /^HEAD$/i;

/** Whether a file makes a folder a repository, or is obeyed by git because the folder is one. */
export function makesRepository(path: string): boolean {
  if (MAKES_REPOSITORY.test(basename(path))) return true;
  for (let place = path; dirname(place) !== place; place = dirname(place))
    if (OBEYED.test(basename(place)) && bareRepositoryAt(dirname(place))) return true;
  return false;
}

function gitFolderAt(top: string, git: string): GitFolder {
  return { top, git, common: resolve(git, trimmedText(join(git, 'commondir')) || '.') };
}

function statsAt(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    // Above what we may see there is nothing to find.
    return undefined;
  }
}

function packed(git: string, reference: string): string | null {
  const line = trimmedText(join(git, 'packed-refs'))
    .split('\n')
    .find((entry) => entry.endsWith(` ${reference}`));
  return commit(line?.split(' ')[0] ?? '');
}

function commit(text: string): string | null {
  return /^[0-9a-f]{40,64}$/.test(text) ? text : null;
}

function trimmedText(path: string): string {
  try {
    return readRegularFile(path, MAX_BYTES).bytes.toString('utf8').trim();
  } catch {
    return '';
  }
}
