import { copyFileSync, cpSync, mkdirSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { attempt } from '../lib/attempt.js';
import { plainReason } from '../lib/errors.js';
import { isFolder, isThere, makeFolders } from '../lib/folders.js';
import { gitFolder } from '../lib/git.js';
import { realPath } from '../lib/real-path.js';
import { removeTree } from '../lib/remove-tree.js';
import { workspaceFiles } from '../lib/workspace-files.js';
import { keepsSecrets } from '../policy/path-scope.js';
import type { InitEvent, ResultEvent } from '../protocol/event.js';
import { isFinished } from '../protocol/outcome.js';
import type { Transcript } from '../protocol/transcript.js';
import { readTranscript } from '../transcript/reader.js';
import { caseProblem, PARTS, readCase } from './case.js';
import { driftBetween, type Drift } from './drift.js';
import { caseGit, type CaseGit } from './git.js';
import { playCase, type PlaySettings } from './play.js';
import { keepPatch } from './run-cases.js';
import { initOf } from './recorded.js';

export interface CaseRequest extends PlaySettings {
  readonly transcript: string;
  /** The folder of the new case; by default one named after the run, in `bosun-tests` here. */
  readonly out: string | undefined;
  readonly cwd: string;
  /** The files as they were before the run, if git does not have them. */
  readonly workspace: string | undefined;
}

export interface MadeCase {
  readonly folder: string;
  /** Where the new case does not go as it was recorded: then its files are not those from before the run. */
  readonly drift: readonly Drift[];
  readonly calls: number;
}

/** Makes a case of a run, and plays it once: it must go as it was recorded. */
export async function makeCase(request: CaseRequest): Promise<MadeCase> {
  const { variables, signal } = request;
  const transcript = readTranscript(request.transcript);
  const init = initOf(request, transcript.lines);
  checkPlayable(transcript);
  const { out = join(request.cwd, 'bosun-tests', init.session_id) } = request;
  if (isThere(out))
    throw caseProblem(`${out} exists already`, 'Name another folder with --out, or remove it.');
  const source = request.workspace ?? repositoryOf(init, request.cwd);
  try {
    makeFolders(out);
    copyFileSync(request.transcript, join(out, PARTS.transcript));
    const workspace = join(out, PARTS.workspace);
    if (typeof source === 'string') await copyWorkspace(source, workspace, signal);
    else await checkOut(source, workspace, caseGit(variables, signal));
    const played = await playCase(readCase(out, basename(out)), request);
    signal.throwIfAborted();
    const drift = driftBetween(played.recorded, played.now);
    if (drift.length === 0) keepPatch(out, played);
    return { folder: out, drift, calls: played.calls };
  } catch (error) {
    removeTree(out);
    throw error;
  }
}

/** Circumstances cannot be played: a signal, a provider that does not answer, time that is up. */
function checkPlayable({ path, result, brokenAt }: Transcript): void {
  const hint = 'Make cases of runs that ended by themselves.';
  if (!result) throw caseProblem(`${path} has no result: the run was interrupted`, hint);
  if (brokenAt !== undefined)
    throw caseProblem(`${path} was changed: its hash chain breaks at line ${brokenAt}`);
  if (!isPlayable(result))
    throw caseProblem(`${path} ended ${result.status}${result.reason ? ` (${result.reason})` : ''}`, hint);
}

function isPlayable({ status, reason }: ResultEvent): boolean {
  return (isFinished(status) && reason !== 'time') || status === 'approval_required';
}

interface CommittedFiles {
  readonly top: string;
  /** A tree of git, by its commit and folder. */
  readonly tree: string;
}

/** The workspace may have been a clone that is gone: then the commit may be in the repository at hand. */
function repositoryOf({ cwd, git_head }: InitEvent, here: string): CommittedFiles {
  const isHere = isFolder(cwd);
  const found = gitFolder(isHere ? cwd : here);
  if (git_head === null || !found)
    throw caseProblem(
      `what ${cwd} was like before the run is not known: it ${git_head === null ? 'was no git repository' : 'is not here'}`,
      'Name a folder with the files as they were by --workspace.',
    );
  const inside = isHere ? relative(found.top, attempt(() => realPath(cwd)) ?? cwd) : '';
  return { top: found.top, tree: `${git_head}:${inside}` };
}

/** The committed files, without touching the repository's own index. */
async function checkOut({ top, tree }: CommittedFiles, workspace: string, git: CaseGit): Promise<void> {
  mkdirSync(workspace);
  const index = { GIT_INDEX_FILE: `${workspace}.index` };
  try {
    await git(['read-tree', tree], top, index);
    await git(['checkout-index', '--all', `--prefix=${workspace}/`], top, index);
  } finally {
    removeTree(`${workspace}.index`);
  }
}

/** A case is meant to be committed: nothing that git ignores, that a run left, or that keeps secrets. */
async function copyWorkspace(from: string, to: string, signal: AbortSignal): Promise<void> {
  if (!isFolder(from)) throw caseProblem(`${from} is not a folder`);
  const files = await workspaceFiles(from, signal);
  try {
    mkdirSync(to);
    for (const path of files.filter((one) => !one.startsWith('.bosun/') && !keepsSecrets(one))) {
      makeFolders(dirname(join(to, path)));
      cpSync(join(from, path), join(to, path), { verbatimSymlinks: true });
    }
  } catch (error) {
    throw caseProblem(`${from} cannot be copied: ${plainReason(error)}`);
  }
}
