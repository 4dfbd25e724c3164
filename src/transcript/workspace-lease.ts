import { join } from 'node:path';
import { formatDuration } from '../lib/duration.js';
import { errorCode, errorMessage } from '../lib/errors.js';
import { isThere } from '../lib/folders.js';
import { holderText, LeaseHeld, takeLease } from '../lib/lease.js';
import { configProblem, type Problem } from '../protocol/problem.js';
import { runsFolder } from '../protocol/runs-folder.js';
import { closeRunsFolder, openRunsFolder } from './runs-folder.js';
import type { Session } from './session.js';
import { warning } from '../protocol/warning.js';

/** The folder is not writable for us. */
const NOT_OURS = ['EACCES', 'EPERM', 'EROFS'];

/**
 * Makes sure that only one run on any machine changes a workspace: otherwise each would report the changes of all as its
 * own. Runs that only read need no lease. Throws a Problem if another run keeps it longer than this one wants to wait.
 */
export async function leaseWorkspace({
  workspace,
  session,
  signal,
  waitMs = 0,
  log,
}: WorkspaceLease): Promise<void> {
  const folder = runsFolder(workspace);
  const path = join(folder, 'workspace.lock');
  const isNew = !isThere(folder);
  const started = performance.now();
  try {
    const lease = await takeLease(path, {
      name: `run ${session.id}`,
      waitMs,
      signal,
      onWait: (holder) =>
        log?.(
          `waiting up to ${formatDuration(waitMs)} for ${workspace}, which ${holderText(holder)} works in`,
        ),
      prepare: () => openRunsFolder(folder),
      ...(isNew && { tidy: () => closeRunsFolder(folder) }),
    });
    session.hold(lease);
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof LeaseHeld) throw busy(workspace, path, error);
    const why = errorMessage(error);
    if (!NOT_OURS.includes(errorCode(error) ?? ''))
      throw configProblem('workspace', `the workspace ${workspace} cannot be leased: ${why}`);
    const message = `other runs may change ${workspace} at the same time: ${why}`;
    session.emit(warning('workspace', message));
  } finally {
    session.clock.discount(performance.now() - started);
  }
}

export interface WorkspaceLease {
  readonly workspace: string;
  readonly session: Session;
  readonly signal: AbortSignal;
  readonly waitMs?: number | undefined;
  /** Gets a line about the run that it waits for. */
  readonly log?: ((line: string) => void) | undefined;
}

function busy(workspace: string, path: string, { holder }: LeaseHeld): Problem {
  if (holder.pid === undefined)
    return configProblem(
      'workspace',
      `the workspace ${workspace} is held by ${path}, which names no process`,
      {
        hint: 'Remove that file if no run is active.',
      },
    );
  const hint = 'Wait for it with --wait 10m, or work in another checkout.';
  const message = `another run works in ${workspace}: ${holderText(holder)}`;
  return configProblem('workspace_busy', message, { hint });
}
