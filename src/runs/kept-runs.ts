import { errorMessage } from '../lib/errors.js';
import { runsFolder } from '../protocol/runs-folder.js';
import { configProblem } from '../protocol/problem.js';
import type { Session } from '../transcript/session.js';
import { keptRun, runIds, type KeptRun } from '../transcript/kept-runs.js';
import { pruneRuns, type Pruned, type PruneWishes } from '../transcript/prune-runs.js';
import { resolveWorkspace } from '../decisions/workspace.js';
import { warning } from '../protocol/warning.js';

export type { KeptRun, Pruned, PruneWishes };

/** The runs that a workspace still has, newest first. */
export function listRuns(cwd: string): KeptRun[] {
  const folder = runsFolder(resolveWorkspace(cwd));
  return runIds(folder).flatMap((id) => keptRun(folder, id) ?? []);
}

/** Removes old runs of a workspace. */
export async function removeOldRuns(cwd: string, wishes: PruneWishes): Promise<Pruned> {
  try {
    return await pruneRuns(runsFolder(resolveWorkspace(cwd)), wishes);
  } catch (error) {
    throw configProblem('runs', `the runs cannot be removed: ${errorMessage(error)}`, { cause: error });
  }
}

/** Does what a policy's `runs.keep` asks for, once a run is over. A failure is only a warning for the run. */
export async function keepNewest(
  workspace: string,
  keep: number,
  { emit }: Pick<Session, 'emit'>,
): Promise<void> {
  const folder = runsFolder(workspace);
  const warn = (message: string) => emit(warning('runs', message));
  try {
    const { spared } = await pruneRuns(folder, { keep, nowMs: Date.now() });
    for (const { run, why, isMeant } of spared)
      if (!isMeant) warn(`the old run ${run.id} could not be removed: ${why}`);
  } catch (error) {
    warn(`old runs could not be removed: ${errorMessage(error)}`);
  }
}
