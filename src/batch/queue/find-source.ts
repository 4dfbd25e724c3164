import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { JobSource } from '../../fleet/job.js';
import { attempt } from '../../lib/attempt.js';
import { errorMessage } from '../../lib/errors.js';
import { fnmatch } from '../../lib/fnmatch.js';
import { gitFolder } from '../../lib/git.js';
import { pLimit } from '../../lib/limit.js';
import { configProblem } from '../../protocol/problem.js';
import type { Git } from '../workspaces/git.js';
import { openMirror, mirrorPath } from '../workspaces/repositories.js';
import { commitOf, type CloneSource } from '../workspaces/source.js';

export interface SourceSettings {
  /** Repositories on this machine. */
  readonly repositories: readonly string[];
  /** Globs of URLs that may be fetched. */
  readonly allowUrls: readonly string[];
  readonly git: Git;
  /** Where fetched repositories are kept. */
  readonly root: string;
  readonly fetching: Fetching;
}

/** Tasks that need the same repository wait for each other: most then need not fetch. */
export type Fetching = Map<string, ReturnType<typeof pLimit>>;

/** The repository of a task, at its exact commit. Throws a Problem if this worker does not have it. */
export async function findSource(source: JobSource, settings: SourceSettings): Promise<CloneSource> {
  const { commit, prefix, url } = source;
  const { repositories, git } = settings;
  if (prefix.startsWith('/') || prefix.split('/').includes('..'))
    throw sourceProblem(`the folder ${JSON.stringify(prefix)} is outside its repository`);
  for (const folder of repositories) {
    const path = attempt(() => gitFolder(folder)?.top) ?? folder;
    if (await hasCommit(commit, path, git)) return { path, commit, prefix };
  }
  if (url === undefined) throw sourceProblem(`the commit ${commit} is in no --repository of this worker`);
  if (!isAllowed(url, settings.allowUrls)) throw sourceProblem(`no --allow-url of this worker allows ${url}`);
  try {
    const path = await fetched(url, commit, settings);
    if (path !== undefined) return { path, commit, prefix };
  } catch (error) {
    throw sourceProblem(`${url} cannot be fetched: ${errorMessage(error)}`);
  }
  throw sourceProblem(`the commit ${commit} is not in ${url}`);
}

/** Where a repository was fetched to; undefined if it lacks the commit. Not fetched again if it has that. */
function fetched(
  url: string,
  commit: string,
  { root, git, fetching }: SourceSettings,
): Promise<string | undefined> {
  const folder = join(root, 'repositories');
  const path = mirrorPath(url, folder);
  const alone = fetching.get(path) ?? pLimit(1);
  fetching.set(path, alone);
  return alone(async () => {
    if (existsSync(path) && (await hasCommit(commit, path, git))) return path;
    await openMirror(url, folder, git);
    return (await hasCommit(commit, path, git)) ? path : undefined;
  });
}

async function hasCommit(commit: string, path: string, git: Git): Promise<boolean> {
  return commitOf(commit, path, git).then(
    (found) => found === commit,
    () => false,
  );
}

/** A leading dash would make it an option, and no address contains control characters. */
function isAllowed(url: string, globs: readonly string[]): boolean {
  // eslint-disable-next-line no-control-regex
  if (url.startsWith('-') || /[\u0000-\u0020\u007f]/.test(url)) return false;
  return globs.some((glob) => fnmatch(glob)?.(url) ?? false);
}

function sourceProblem(message: string) {
  return configProblem('refused', message);
}
