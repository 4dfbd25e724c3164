import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { errorMessage } from '../../lib/errors.js';
import { makeFolders } from '../../lib/folders.js';
import { bareRepositoryAt, repositoryAt } from '../../lib/git.js';
import { sha256 } from '../../lib/ids.js';
import type { BatchSpec, RepositoryRow } from '../spec.js';
import type { Git } from './git.js';
import { commitOf, type CloneSource } from './source.js';

/** The repository of each row at its ref's current commit. A repository that is unavailable is an error at its place. */
export async function repositorySources(
  rows: readonly RepositoryRow[],
  spec: BatchSpec,
  folder: string,
  git: Git,
): Promise<CloneSource[]> {
  const sources: CloneSource[] = [];
  for (const [i, { url, ref = 'HEAD' }] of rows.entries()) {
    try {
      const path = localPath(url, spec.folder) ?? (await openMirror(url, join(folder, 'repositories'), git));
      sources.push({ path, commit: await commitOf(ref, path, git), prefix: '', url });
    } catch (error) {
      throw spec.fault(
        ['tasks', 'repositories', i],
        `${url} at ${ref} cannot be fetched: ${errorMessage(error)}`,
      );
    }
  }
  return sources;
}

/** A local repository is used where it is. */
function localPath(url: string, folder: string): string | undefined {
  const path = resolve(folder, url);
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return undefined;
  if (!repositoryAt(path) && !bareRepositoryAt(path)) throw new Error('it is not a git repository');
  return path;
}

/** Where it is kept. */
export function mirrorPath(url: string, folder: string): string {
  return join(folder, sha256(url).slice(0, 16));
}

/** A remote repository is fetched once for all starts, and updated by each. */
export async function openMirror(url: string, folder: string, git: Git): Promise<string> {
  const path = mirrorPath(url, folder);
  makeFolders(folder, 0o700);
  if (existsSync(join(path, 'HEAD')))
    await git(
      [
        'fetch',
        '--quiet',
        '--prune',
        '--force',
        'origin',
        '+refs/heads/*:refs/heads/*',
        '+refs/tags/*:refs/tags/*',
      ],
      path,
    );
  else await git(['clone', '--quiet', '--bare', '--template=', '--', url, path], folder);
  return path;
}
