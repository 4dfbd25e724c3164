import { learnDenials } from '../policy/learn/learn-denials.js';
import { learnMissing } from '../policy/learn/learn-missing.js';
import { learnPolicy, type LearnSettings } from '../policy/learn/learn-policy.js';
import type { LearnAnswer } from '../policy/learn/report.js';
import { usableRuns } from '../policy/learn/usable-runs.js';
import { openPolicies, type PolicyRequest } from '../policy/load.js';
import { judgeUnder, type JudgeSettings } from './judge-calls.js';
import { dialectFor } from './policy-place.js';
import { readEvidence } from '../transcript/read-evidence.js';
import { vouchedBy } from '../transcript/signed-evidence.js';

export { checkOutput } from '../policy/learn/output.js';
export { learnJson, learnLines } from '../policy/learn/report.js';

export interface LearnRequest
  extends Pick<PolicyRequest, 'folder' | 'onLoaded'>, Pick<LearnSettings, 'minRuns' | 'file'>, JudgeSettings {
  readonly transcripts: readonly string[];
  /** If there are several, each must allow it. */
  readonly ceiling: readonly string[];
  readonly fromDenials?: boolean;
  readonly merge?: string;
  /** Only transcripts signed by one of these count. */
  readonly trustedKeys?: readonly string[];
}

/** Learns from transcripts what a policy must allow. */
export async function learn(request: LearnRequest): Promise<LearnAnswer> {
  const { ceiling: policies, folder, trustedKeys = [], onLoaded, fromDenials = false } = request;
  const wanted = { mode: undefined, folder, ...(onLoaded && { onLoaded }) };
  const ceiling = await openPolicies({ ...wanted, policies });
  const { runs: all, unusable } = await readEvidence(request.transcripts, vouchedBy(trustedKeys, folder));
  const { runs, leftOut } = usableRuns(all, unusable, fromDenials);
  const settings = { ...learnSettings(request), ceilingName: policies.join(', '), leftOut };
  const found = { runs: runs.length, leftOut };
  if (fromDenials) return { ...(await learnDenials(runs, ceiling, settings)), ...found };
  if (request.merge === undefined) {
    const { text, lessons } = await learnPolicy(runs, ceiling, settings);
    return { text, lessons, ...found };
  }
  const target = await openPolicies({ ...wanted, policies: [request.merge] });
  return { ...(await learnMissing(runs, ceiling, target, settings)), ...found };
}

/** How recorded calls are judged again. */
export function learnSettings<T extends JudgeSettings>(
  request: T,
): T & Pick<LearnSettings, 'judgeUnder' | 'dialectOf'> {
  return {
    ...request,
    judgeUnder: (policy) => judgeUnder(policy, request),
    dialectOf: (shell) => dialectFor(shell, request.searchPath)(),
  };
}
