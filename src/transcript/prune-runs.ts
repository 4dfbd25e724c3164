import { join } from 'node:path';
import { coded, errorMessage } from '../lib/errors.js';
import { LeaseHeld, takeLease, type Lease } from '../lib/lease.js';
import { realPath } from '../lib/real-path.js';
import { removeTree } from '../lib/remove-tree.js';
import { keptRun, runIds, type KeptRun } from './kept-runs.js';
import { leaseFileOf } from './lease.js';

export interface PruneWishes {
  /** So many of the newest stay. */
  readonly keep?: number;
  /** Only those go that were last written longer ago. */
  readonly olderThanMs?: number;
  readonly nowMs: number;
  /** Tells which would go, and removes nothing. */
  readonly dryRun?: boolean;
}

/** What became of the runs that had to go. */
export interface Pruned {
  readonly removed: readonly KeptRun[];
  /** Old enough, but still there. */
  readonly spared: readonly SparedRun[];
}

export interface SparedRun {
  readonly run: KeptRun;
  readonly why: string;
  /** It is still running or waits for an approval: that it stays is no failure. */
  readonly isMeant: boolean;
}

const RUNNING = 'it is still running';
const WAITING = 'it waits for an approval';

/** Removes old runs. One that a process works on, or that waits for an approval, stays. */
export async function pruneRuns(folder: string, wishes: PruneWishes): Promise<Pruned> {
  const { keep = 0, olderThanMs = 0, nowMs, dryRun = false } = wishes;
  // A link that somebody committed must not make us remove what is elsewhere.
  if (realPath(folder) !== folder) throw coded('ELOOP', `a part of ${folder} is a symbolic link`);
  const removed: KeptRun[] = [];
  const spared: SparedRun[] = [];
  for (const id of runIds(folder).slice(keep)) {
    const run = keptRun(folder, id);
    if (!run || nowMs - Date.parse(run.changed) < olderThanMs) continue;
    const stays = run.status === 'approval_required' ? WAITING : undefined;
    const why = stays ?? (await removal(folder, run, dryRun));
    if (why === undefined) removed.push(run);
    else spared.push({ run, why, isMeant: why === WAITING || why === RUNNING });
  }
  return { removed, spared };
}

/** Removes a run under its own lease, so that nobody resumes it meanwhile. Says why it could not. */
async function removal(folder: string, run: KeptRun, dryRun: boolean): Promise<string | undefined> {
  if (dryRun) return run.status === 'running' ? RUNNING : undefined;
  let lease: Lease;
  try {
    lease = await takeLease(leaseFileOf(run.transcript), { name: 'bosun runs prune' });
  } catch (error) {
    return error instanceof LeaseHeld ? RUNNING : errorMessage(error);
  }
  try {
    removeTree(join(folder, run.id));
    return undefined;
  } catch (error) {
    return errorMessage(error);
  } finally {
    lease.release();
  }
}
