import { statSync, type Stats } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readRegularFile } from './regular-file.js';

/** Git's own files are small, all but the one of packed references. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The commit that is checked out, read from git's files; null outside a repository or before its first commit. */
export function gitHead(folder: string): string | null {
  const found = gitFolder(folder);
  if (!found) return null;
  const head = read(join(found.git, 'HEAD'));
  const reference = /^ref: (.+)$/.exec(head)?.[1];
  if (reference === undefined) return commit(head);
  return commit(read(join(found.common, reference))) ?? packed(found.common, reference);
}

export interface GitFolder {
  /** The top of the working tree. */
  readonly top: string;
  readonly git: string;
  /** Where a worktree keeps what it shares with the main repository; else the same as `git`. */
  readonly common: string;
}

/** The repository that a folder is in. */
export function gitFolder(folder: string): GitFolder | undefined {
  for (let top = folder; ; top = dirname(top)) {
    const candidate = join(top, '.git');
    const stats = look(candidate);
    const git = stats?.isFile() ? resolve(top, read(candidate).replace(/^gitdir: /, '')) : candidate;
    if (stats && (stats.isFile() || look(join(git, 'HEAD'))))
      return { top, git, common: resolve(git, read(join(git, 'commondir')) || '.') };
    if (dirname(top) === top) return undefined;
  }
}

function look(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    // Above what we may see there is nothing for us.
    return undefined;
  }
}

function packed(git: string, reference: string): string | null {
  const line = read(join(git, 'packed-refs'))
    .split('\n')
    .find((entry) => entry.endsWith(` ${reference}`));
  return commit(line?.split(' ')[0] ?? '');
}

function commit(text: string): string | null {
  return /^[0-9a-f]{40,64}$/.test(text) ? text : null;
}

function read(path: string): string {
  try {
    return readRegularFile(path, MAX_BYTES).bytes.toString('utf8').trim();
  } catch {
    return '';
  }
}
