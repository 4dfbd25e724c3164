import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { errorMessage, plainReason, isDiskFull } from '../lib/errors.js';
import { holderText, LeaseHeld, takeLease, type Lease, type LeaseWishes } from '../lib/lease.js';
import { configProblem, Problem } from '../protocol/problem.js';

/** The file that says which process writes a transcript. */
export function leaseFileOf(transcript: string): string {
  return `${transcript}.lock`;
}

/** Makes sure that only one process on any machine writes a transcript. What is not a file needs no lease. */
export async function leaseTranscript(path: string, wishes: LeaseWishes): Promise<Lease | undefined> {
  // Such as /dev/null.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) return undefined;
  try {
    return await takeLease(leaseFileOf(path), wishes);
  } catch (error) {
    if (error instanceof LeaseHeld) throw beingWritten(path, error);
    if (wishes.signal?.aborted) throw cancelled(wishes.signal.reason);
    const message = `the transcript ${path} cannot be written: ${plainReason(error)}`;
    if (isDiskFull(error)) throw new Problem('tool_infra_error', 'transcript', message, { cause: error });
    throw configProblem('transcript', message, {
      hint: 'Choose another place with --transcript.',
      cause: error,
    });
  }
}

/** A lease for a transcript that must exist, and will be continued. */
export async function leaseExisting(path: string, wishes: LeaseWishes): Promise<Lease | undefined> {
  if (!existsSync(path))
    throw configProblem('transcript', `the transcript ${path} cannot be read: no such file or directory`);
  const lease = await leaseTranscript(path, wishes);
  if (!lease?.contested) return lease;
  try {
    fenceOff(path, lease);
    return lease;
  } catch (error) {
    lease.release();
    throw error;
  }
}

/** The former writer may still be about to write: from now on, into a file that no longer has a name. */
function fenceOff(path: string, { number }: Lease): void {
  const copy = `${path}.${number}.tmp`;
  try {
    copyFileSync(path, copy);
    const file = openSync(copy, 'r+');
    fsyncSync(file);
    closeSync(file);
    renameSync(copy, path);
  } catch (error) {
    rmSync(copy, { force: true });
    throw configProblem('transcript', `${path} cannot be taken over: ${errorMessage(error)}`);
  }
}

/** Told to stop while waiting: there is no run yet that could end. */
function cancelled(reason: unknown): Problem {
  const name = typeof reason === 'string' ? reason : 'SIGTERM';
  return new Problem('cancelled', name, `stopped by ${name}`);
}

function beingWritten(path: string, { holder }: LeaseHeld): Problem {
  const file = leaseFileOf(path);
  if (holder.pid === undefined)
    return configProblem('transcript', `${path} is held by ${file}, which names no process`, {
      hint: 'Remove that file if no run is active.',
    });
  const state = holder.alive
    ? 'a process that is still running'
    : 'a process elsewhere, which was active less than a minute ago';
  const hint = 'Wait until it ends, for example with --wait.';
  return configProblem('transcript', `${path} is being written by ${state}: ${holderText(holder)}`, { hint });
}
