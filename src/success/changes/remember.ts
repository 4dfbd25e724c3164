import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode, errorMessage } from '../../lib/errors.js';
import { makeFolders } from '../../lib/folders.js';
import { gitFolder, gitHead, type GitFolder } from '../../lib/git.js';
import type { GitChange } from '../git/changes.js';
import { GitSnapshots, type ChangedPath } from '../git/snapshots.js';
import { findOwnGit, type OwnGit } from '../../lib/own-git.js';
import { pathFrom, realPath } from '../../lib/real-path.js';
import { configProblem, Problem } from '../../protocol/problem.js';
import { lostBaseline, type Changes, type ChangesSettings, type Patch, type SeenChange } from './seen.js';

/** Remembers the current state of the workspace. */
export async function watchChanges(settings: ChangesSettings, signal: AbortSignal): Promise<Changes> {
  const { workspace, store, before, patchFor } = settings;
  if (before && !before.baseline)
    throw configProblem('baseline', 'what the workspace was like before this run is not known', {
      hint: 'To record it, start a run with --patch-out or --require-changes.',
    });
  const repository = repositoryFor({ workspace, patchFor });
  makeFolders(store, 0o700);
  try {
    if (repository) return await gitChanges(repository, settings, signal);
    const { plainChanges } = await import('./without-git.js');
    return await plainChanges(settings, signal);
  } catch (error) {
    if (error instanceof Problem || signal.aborted) throw error;
    const why = `the state of the workspace cannot be recorded: ${errorMessage(error)}`;
    throw new Problem('tool_infra_error', 'baseline', why, { cause: error });
  }
}

/** The repository that a workspace is in, if any. Throws a Problem if there is none, and a patch needs one. */
export function repositoryFor({
  workspace,
  patchFor,
}: Pick<ChangesSettings, 'workspace' | 'patchFor'>): GitFolder | undefined {
  const repository = gitFolder(workspace);
  if (!repository && patchFor !== undefined)
    throw configProblem('patch', `${patchFor} needs a git repository, but ${workspace} is not in one`, {
      hint: 'Run `git init`, or choose another workspace with --cwd.',
    });
  return repository;
}

/** The git that records the state of a repository. Throws a Problem if there is none. */
export function recordingGit(repository: GitFolder, search: ChangesSettings['search']): OwnGit {
  const git = findOwnGit({ ...search, writable: [...search.writable, realPath(repository.top)] });
  if (git) return git;
  throw configProblem('git', 'the state of the workspace cannot be recorded: git is not installed', {
    hint: 'Install git, or leave out the option.',
  });
}

async function gitChanges(
  repository: GitFolder,
  { workspace, store, except, search, before }: ChangesSettings,
  signal: AbortSignal,
): Promise<Changes> {
  const git = recordingGit(repository, search);
  const shots = new GitSnapshots({ repository, store, except, git });
  const baseline = before?.baseline ?? { head: gitHead(workspace), trees: await shots.take(signal) };
  const { trees } = baseline;
  if (!trees || (before && !(await shots.has(trees, signal)))) throw lostBaseline(store);
  const unseenBefore = rememberUnseen(join(store, 'unseen.json'), before === undefined && shots);
  const inWorkspace = (path: string) => pathFrom(workspace, join(repository.top, path));
  const fromTop = (only: ReadonlySet<string> | undefined) =>
    only && new Set([...only].map((path) => pathFrom(repository.top, join(workspace, path))));
  const patchOf = (bytes: Buffer, changed: readonly ChangedPath[]): Patch => ({
    bytes,
    paths: changed.map(({ path }) => inWorkspace(path)),
    nested: [...shots.nested].map(inWorkspace),
    unreadable: [...shots.unreadable].map(inWorkspace),
    hidden: unseenIn(shots)
      .filter((path) => !unseenBefore.has(path))
      .map(inWorkspace),
  });
  const seen = ({ path, from, was: _was, ...rest }: GitChange): SeenChange => ({
    path: inWorkspace(path),
    ...rest,
    ...(from !== undefined && { from: inWorkspace(from) }),
  });
  return {
    baseline,
    files: async (stop, only) => {
      const changed = await shots.changed(trees, await shots.take(stop, fromTop(only)), stop);
      return new Map(changed.map(({ path, now }) => [inWorkspace(path), now]));
    },
    hasNewCommit: async (stop) => {
      const head = gitHead(workspace);
      if (head === null || head === baseline.head) return false;
      return !(await shots.isSameTree(baseline.head, head, stop));
    },
    look: async (stop, { only, patch }) => {
      const now = await shots.take(stop, fromTop(only));
      if (!patch) return { changes: (await shots.changes(trees, now, stop)).map(seen) };
      const { bytes, changed, changes } = await shots.patch(trees, now, stop);
      return { changes: changes.map(seen), patch: patchOf(bytes, changed) };
    },
  };
}

function unseenIn({ nested, unreadable }: GitSnapshots): string[] {
  return [...nested, ...unreadable];
}

/** What the first snapshot could not read; kept in a file for a resumed run. */
function rememberUnseen(file: string, first: GitSnapshots | false): ReadonlySet<string> {
  if (first) writeFileSync(file, JSON.stringify(unseenIn(first)), { mode: 0o600 });
  try {
    return new Set(JSON.parse(readFileSync(file, 'utf8')) as string[]);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return new Set();
    throw error;
  }
}
