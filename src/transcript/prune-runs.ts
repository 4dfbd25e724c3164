import { join } from 'node:path';
import { errorWithCode, errorMessage } from '../lib/errors.js';
import { LeaseHeld, takeLease, type Lease } from '../lib/lease.js';
import { realPath } from '../lib/real-path.js';
import { removeTree } from '../lib/remove-tree.js';
import { keptRun, runIds, type KeptRun } from './kept-runs.js';
import { leaseFileOf } from './lease.js';

export interface PruneWishes {
  /** How many of the newest stay. */
  readonly keep?: number;
  /** Only runs that were last written longer ago are removed. */
  readonly olderThanMs?: number;
  readonly nowMs: number;
  /** Says which would be removed, and removes nothing. */
  readonly dryRun?: boolean;
}

/** The runs that were to be removed. */
export interface Pruned {
  readonly removed: readonly KeptRun[];
  /** To be removed, but still there. */
  readonly spared: readonly SparedRun[];
}

export interface SparedRun {
  readonly run: KeptRun;
  readonly why: string;
  /** It is still running, or waits for an approval: keeping it is not a failure. */
  readonly isMeant: boolean;
}

const RUNNING = 'it is still running';
const WAITING = 'it waits for an approval';

/** Removes old runs, except those that a process works on, or that wait for an approval. */
export async function pruneRuns(folder: string, wishes: PruneWishes): Promise<Pruned> {
  const { keep = 0, olderThanMs = 0, nowMs, dryRun = false } = wishes;
  // A committed link may not make us remove something elsewhere.
  if (realPath(folder) !== folder) throw errorWithCode('ELOOP', `a part of ${folder} is a symbolic link`);
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

/** Removes a run under its own lease, so that it is not resumed meanwhile. Says why if it could not. */
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
