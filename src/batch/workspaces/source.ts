import { rmdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { errorMessage } from '../../lib/errors.js';
import { gitFolder, repositoryAt } from '../../lib/git.js';
import type { BatchSpec } from '../spec.js';
import type { Git } from './git.js';

/** A repository to clone, at the commit that is pinned for the whole batch. */
export interface CloneSource {
  /** The top of its working tree, or the repository itself if it has none. */
  readonly path: string;
  readonly commit: string;
  /** The workspace's path in a clone, for a batch in a part of a repository. */
  readonly prefix: string;
  /** As in the batch file, if that names repositories. */
  readonly url?: string;
}

/** The source of a workspace. A base that does not exist is an error at its place. */
export async function cloneSource(workspace: string, spec: BatchSpec, git: Git): Promise<CloneSource> {
  const repository = gitFolder(workspace);
  if (!repository)
    throw spec.fault(
      ['workspace', 'isolation'],
      `isolation clone needs a git repository, but ${workspace} is not in one`,
      'Run `git init` and commit, or set workspace.isolation: none and concurrency: 1.',
    );
  const { base } = spec.workspace;
  const commit = await commitOf(base, repository.top, git).catch((error: unknown) => {
    throw spec.fault(
      ['workspace', 'base'],
      `there is no commit ${base} in ${repository.top}: ${errorMessage(error)}`,
    );
  });
  return { path: repository.top, commit, prefix: relative(repository.top, workspace) };
}

/** The repositories that tasks are cloned from, each once. */
export function sourcesOf(tasks: readonly { readonly source: CloneSource | undefined }[]): CloneSource[] {
  const sources = tasks.flatMap(({ source }) => source ?? []);
  return [...new Map(sources.map((source) => [source.path, source])).values()];
}

export async function commitOf(base: string, directory: string, git: Git): Promise<string> {
  const found = await git(
    ['rev-parse', '--verify', '--quiet', '--end-of-options', `${base}^{commit}`],
    directory,
  );
  return found.trim();
}

/** The blob of each path of the workspace at the commit. */
export async function filesAt({ path, commit, prefix }: CloneSource, git: Git): Promise<Map<string, string>> {
  const below = prefix === '' ? [] : ['--', `${prefix}/`];
  const listed = await git(['ls-tree', '-r', '-z', '--full-tree', commit, ...below], path);
  const files = new Map<string, string>();
  for (const entry of listed.split('\0')) {
    const [, type, blob, name] = /^\d+ (\w+) ([0-9a-f]+)\t([^]*)$/.exec(entry) ?? [];
    // A task cannot be about a link or another repository.
    if (type === 'blob' && blob !== undefined && name !== undefined && !entry.startsWith('120000'))
      files.set(prefix === '' ? name : name.slice(prefix.length + 1), blob);
  }
  return files;
}

/** Keeps git from removing the commit while the batch is not over. */
export async function pinBase({ path, commit }: CloneSource, name: string, git: Git): Promise<void> {
  await git(['update-ref', refOf(name), commit], path);
}

export async function unpinBase({ path }: CloneSource, name: string, git: Git): Promise<void> {
  await git(['update-ref', '-d', refOf(name)], path);
  const { common } = repositoryAt(path) ?? { common: path };
  // Git leaves empty folders; those of other batches stay.
  for (const folder of ['refs/bosun/base', 'refs/bosun']) attempt(() => rmdirSync(join(common, folder)));
}

function refOf(name: string): string {
  return `refs/bosun/base/${name}`;
}
