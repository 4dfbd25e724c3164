import { dirname, relative, resolve } from 'node:path';
import { errorMessage } from '../lib/errors.js';
import { toJsonText } from '../lib/jsonl.js';
import { readRegularFile } from '../lib/regular-file.js';
import type { EffectivePolicy } from '../policy/fold.js';
import { lockFault, makeLock, readLock, type PolicyLock } from '../policy/lock.js';
import { configProblem } from '../protocol/problem.js';
import type { JudgeSettings } from './judge-calls.js';
import { openPolicies, type PolicyRequest } from '../policy/load.js';
import { presetsFolder } from '../policy/preset-names.js';
import { readEvidence } from './read-evidence.js';
import { replayPolicy } from './replay-policy.js';
import { writeNamedFile } from './write-named-file.js';

export interface LockRequest extends Pick<PolicyRequest, 'folder' | 'onLoaded'>, JudgeSettings {
  readonly policy: string;
  readonly transcripts: readonly string[];
  readonly now: Date;
}

export interface WrittenLock {
  readonly file: string;
  readonly lock: PolicyLock;
  /** Calls of the evidence that succeeded, and that the policy would refuse. */
  readonly refused: number;
}

/** Writes down which policy was agreed on, and on which evidence. */
export async function lockPolicy(request: LockRequest): Promise<WrittenLock> {
  const { policy, transcripts, folder, now } = request;
  const wanted = { ...request, policies: [policy], mode: undefined };
  const { ruleSets } = await openPolicies(wanted);
  const { runs, unusable } = await readEvidence(transcripts);
  const [broken] = unusable;
  if (broken) throw configProblem('transcript', `${broken.path} cannot be used: ${broken.why}`);
  const isPreset = !/[/.\\]/.test(policy);
  const file = resolve(folder, `${policy}.lock`);
  const name = isPreset ? policy : `./${relative(dirname(file), resolve(folder, policy))}`;
  const lock = makeLock({
    policy: name,
    files: (ruleSets[0]?.sources ?? []).map((source) => ({
      file: shownFile(source.file, dirname(file)),
      sha256: source.sha256,
    })),
    evidence: runs
      .map(({ session, sha256 }) => ({ session_id: session, sha256 }))
      .toSorted((a, b) => a.session_id.localeCompare(b.session_id)),
    locked_at: now.toISOString(),
  });
  const { refused } = await replayPolicy({ ...wanted, against: [], transcripts });
  writeNamedFile(file, `${toJsonText(lock)}\n`);
  return { file, lock, refused };
}

/** A preset by its name, everything else from the lock. */
function shownFile(file: string, folder: string): string {
  return dirname(file) === presetsFolder()
    ? file.slice(presetsFolder().length + 1).replace(/\.yaml$/, '')
    : relative(folder, file);
}

/** Throws unless a run is under the policy that was locked. */
export function checkLock(file: string, { ruleSets }: Pick<EffectivePolicy, 'ruleSets'>): void {
  const fault = lockFault(openLock(file), ruleSets);
  if (fault !== undefined)
    throw configProblem('policy_lock', `the policy does not fit ${file}: ${fault}`, {
      hint: 'Compare with bosun policy replay --policy NEW --against OLD, then lock the new one with bosun policy lock.',
    });
}

/** The policy that a lock is about, as `--policy` takes it. */
export function lockedPolicy(file: string): string {
  const { policy } = openLock(file);
  return policy.startsWith('./') ? resolve(dirname(file), policy) : policy;
}

function openLock(file: string): PolicyLock {
  let text: string;
  try {
    text = readRegularFile(file, 16 * 1024 * 1024).bytes.toString('utf8');
  } catch (error) {
    throw configProblem('policy_lock', `the lock ${file} cannot be read: ${errorMessage(error)}`);
  }
  const lock = readLock(text);
  if (typeof lock !== 'string') return lock;
  throw configProblem('policy_lock', `the lock ${file} cannot be used: ${lock}`, {
    hint: 'Write it again with bosun policy lock.',
  });
}
