import { toJsonText } from '../lib/jsonl.js';
import { openPolicies, type PolicyRequest } from '../policy/load.js';
import { lockFileOf, lockOf } from '../policy/lock-file.js';
import { filesBeside } from '../policy/lock-beside.js';
import type { PolicyLock } from '../policy/lock.js';
import { configProblem } from '../protocol/problem.js';
import type { JudgeSettings } from './judge-calls.js';
import { readEvidence } from '../transcript/read-evidence.js';
import { replayPolicy } from './replay-policy.js';
import { resolveWorkspace } from './workspace.js';
import { writeNamedFile } from './write-named-file.js';

export interface LockRequest extends Pick<PolicyRequest, 'folder' | 'onLoaded'>, JudgeSettings {
  readonly policy: string;
  readonly transcripts: readonly string[];
  readonly now: Date;
}

export interface WrittenLock {
  readonly file: string;
  readonly lock: PolicyLock;
  /** Calls of the evidence that succeeded, and that the policy would deny. */
  readonly refused: number;
}

/** Writes a lock: which policy was agreed on, and on which evidence. */
export async function lockPolicy(request: LockRequest): Promise<WrittenLock> {
  const { policy, transcripts, folder, now } = request;
  const wanted = { ...request, policies: [policy], mode: undefined };
  const effective = await openPolicies(wanted);
  const { runs, unusable } = await readEvidence(transcripts);
  const [broken] = unusable;
  if (broken) throw configProblem('transcript', `${broken.path} cannot be used: ${broken.why}`);
  const file = lockFileOf(policy, folder);
  const [set] = effective.ruleSets;
  const workspace = resolveWorkspace(request.cwd ?? request.fallback);
  const beside = set ? await filesBeside(set, workspace) : [];
  const lock = lockOf(policy, folder, effective, {
    ...(beside.length > 0 && { beside }),
    evidence: runs
      .map(({ session, sha256 }) => ({ session_id: session, sha256 }))
      .toSorted((a, b) => a.session_id.localeCompare(b.session_id)),
    locked_at: now.toISOString(),
  });
  const { refused } = await replayPolicy({ ...wanted, against: [], transcripts });
  writeNamedFile(file, `${toJsonText(lock)}\n`);
  return { file, lock, refused };
}
