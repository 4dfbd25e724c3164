import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { errorCode, errorMessage } from '../lib/errors.js';
import { fingerprint } from '../lib/fingerprints.js';
import { makeFolders } from '../lib/folders.js';
import { gitFolder, gitHead, type GitFolder } from '../lib/git.js';
import { GitSnapshots, type ChangedPath } from '../lib/git-snapshot.js';
import { isInside, pathFrom } from '../lib/real-path.js';
import { configProblem, Problem } from '../protocol/problem.js';
import type { Baseline } from '../protocol/success.js';
import { ignoreRules } from '../tools/files/ignored.js';
import { walk } from '../tools/files/walk.js';

export interface ChangesSettings {
  readonly workspace: string;
  /** A folder of the run's own, to keep what was before. */
  readonly store: string;
  /** Real paths that do not count. */
  readonly except: readonly string[];
  /** `PATH`. */
  readonly searchPath: string | undefined;
  /** What a patch is wanted for, if one is: that takes a repository. */
  readonly patchFor: string | undefined;
  /** The run is taken up again; what was before it is known, or not. */
  readonly before: { readonly baseline: Baseline | undefined } | undefined;
}

/** Paths from the workspace, and what each of them is now. */
export type ChangedFiles = ReadonlyMap<string, string>;

export interface Patch {
  readonly bytes: Buffer;
  readonly files: ChangedFiles;
  /** Repositories inside that it does not reach into, and files that we may not read. */
  readonly strangers: readonly string[];
  readonly unreadable: readonly string[];
}

/** What the run has changed, by what really is there: what was taken back is no change. */
export interface Changes {
  readonly baseline: Baseline;
  files(signal: AbortSignal): Promise<ChangedFiles>;
  /** Whether another commit is checked out. */
  hasNewCommit(): boolean;
  /** Only in a repository. */
  patch?(signal: AbortSignal): Promise<Patch>;
}

/** Remembers what the workspace is like before the run. */
export async function watchChanges(settings: ChangesSettings, signal: AbortSignal): Promise<Changes> {
  const { workspace, store, before, patchFor } = settings;
  if (before && !before.baseline)
    throw configProblem('baseline', 'what the workspace was like before this run is not known', {
      hint: 'Begin a run with --patch-out or --require-changes to have it remembered.',
    });
  const repository = gitFolder(workspace);
  if (!repository && patchFor !== undefined)
    throw configProblem('patch', `${patchFor} needs a git repository, and ${workspace} is in none`, {
      hint: 'Run `git init`, or choose another workspace with --cwd.',
    });
  makeFolders(store, 0o700);
  try {
    return await (repository ? gitChanges(repository, settings, signal) : plainChanges(settings, signal));
  } catch (error) {
    if (error instanceof Problem || signal.aborted) throw error;
    const why = `the state of the workspace cannot be remembered: ${errorMessage(error)}`;
    if (/spawn git ENOENT/.test(errorMessage(error)))
      throw configProblem('git', why, { hint: 'Install git, or do without the option.' });
    throw new Problem('tool_infra_error', 'baseline', why, { cause: error });
  }
}

async function gitChanges(
  repository: GitFolder,
  { workspace, store, except, searchPath, before }: ChangesSettings,
  signal: AbortSignal,
): Promise<Changes> {
  const shots = new GitSnapshots({ repository, store, except, searchPath });
  const baseline = before?.baseline ?? { head: gitHead(workspace), trees: await shots.take(signal) };
  const { trees } = baseline;
  if (!trees || (before && !(await shots.has(trees, signal)))) throw lost(store);
  const inWorkspace = (path: string) => pathFrom(workspace, join(repository.top, path));
  const byPath = (changed: readonly ChangedPath[]) =>
    new Map(changed.map(({ path, now }) => [inWorkspace(path), now]));
  return {
    baseline,
    files: async (stop) => byPath(await shots.changed(trees, await shots.take(stop), stop)),
    hasNewCommit: () => gitHead(workspace) !== baseline.head,
    patch: async (stop) => {
      const { bytes, changed } = await shots.patch(trees, await shots.take(stop), stop);
      const strangers = [...shots.strangers].map(inWorkspace);
      const unreadable = [...shots.unreadable].map(inWorkspace);
      return { bytes, files: byPath(changed), strangers, unreadable };
    },
  };
}

/** Outside a repository: every file that is not ignored is read. */
async function plainChanges(
  { workspace, store, except, before }: ChangesSettings,
  signal: AbortSignal,
): Promise<Changes> {
  const file = join(store, 'files.json');
  const look = (stop: AbortSignal) => fingerprints(workspace, except, stop);
  const was = before ? recall(file, store) : await look(signal);
  if (!before) writeFileSync(file, JSON.stringify([...was]), { mode: 0o600 });
  return {
    baseline: { head: null },
    files: async (stop) => {
      const now = await look(stop);
      const gone = [...was.keys()].filter((path) => !now.has(path));
      const changed = [...now].filter(([path, state]) => was.get(path) !== state);
      return new Map([...changed, ...gone.map((path) => [path, 'gone'] as const)]);
    },
    hasNewCommit: () => false,
  };
}

/** How many files are read before others get a turn. */
const BATCH = 100;

async function fingerprints(
  workspace: string,
  except: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const isOwn = (path: string) => except.some((own) => isInside(own, join(workspace, path)));
  const { files } = await walk({
    root: workspace,
    ignored: ignoreRules(workspace).at(workspace),
    enter: (path) => !isOwn(path),
    wanted: (path) => !isOwn(path),
    signal,
  });
  const found = new Map<string, string>();
  for (const [i, { path, isLink }] of files.entries()) {
    if (i % BATCH === 0) await nextTurn();
    signal.throwIfAborted();
    found.set(path, fingerprint(join(workspace, path), isLink));
  }
  return found;
}

function recall(file: string, store: string): Map<string, string> {
  try {
    return new Map(JSON.parse(readFileSync(file, 'utf8')) as [string, string][]);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    throw lost(store);
  }
}

function lost(store: string): Problem {
  return configProblem('baseline', 'what the workspace was like before the run is not known here', {
    hint: `Bring ${store} along with the transcript, to the same place beside it.`,
  });
}
