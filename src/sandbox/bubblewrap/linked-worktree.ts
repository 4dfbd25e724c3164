import { dirname, join, resolve } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { realPath } from '../../lib/real-path.js';
import { readRegularFile } from '../../lib/regular-file.js';

/** A worktree of a repository elsewhere. */
export interface LinkedWorktree {
  /** The repository's own folder. */
  readonly common: string;
  /** The part of it that belongs to this worktree alone. */
  readonly own: string;
}

/**
 * The worktree that a file called `.git` belongs to, by the folder it names. Anybody can write such a file: it
 * counts only if the repository in turn names the worktree.
 */
export function linkedWorktree(file: string, own: string): LinkedWorktree | undefined {
  const common = followed(own, 'commondir');
  const isAmongWorktrees = common !== undefined && dirname(own) === join(common, 'worktrees');
  return isAmongWorktrees && followed(own, 'gitdir') === file ? { common, own } : undefined;
}

/** Where a file leads that contains nothing but a path. */
function followed(folder: string, name: string): string | undefined {
  return attempt(() => {
    const text = readRegularFile(join(folder, name), 10_000).bytes.toString('utf8');
    return realPath(resolve(folder, text.trim()));
  });
}

/** Of the repository: what a commit has to write. */
export const SHARED = ['objects', 'refs', 'logs'];
/** Of the worktree's own folder: what would lead git elsewhere. */
export const LEADING = ['commondir', 'gitdir', 'config.worktree'];
