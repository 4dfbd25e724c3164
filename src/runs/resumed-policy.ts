import { answerSignatureFault } from '../approvals/binding.js';
import { policyHash } from '../policy/policy-hash.js';
import { withDefaults, type PolicyDocument } from '../policy/document.js';
import { fold, limitsSaid, narrowed, withLimits, type EffectivePolicy } from '../policy/fold.js';
import { loadPolicies } from '../policy/load.js';
import { withCallback } from '../policy/on-ask.js';
import { resumedPolicies, type PolicyMeaning, type Resumption } from '../resume/resumed-policies.js';
import { policyFlags } from './policy-flags.js';
import type { ResumeRequest } from './resume-request.js';

const POLICY: PolicyMeaning<PolicyDocument> = {
  completed: withDefaults,
  narrowed,
  hash: policyHash,
  trustedKeys: (documents) => fold(documents).trustedKeys,
  verifyCommands: (documents) => fold(documents).success.verify,
  signatureFault: answerSignatureFault,
};

export interface ResumedPolicy {
  readonly effective: EffectivePolicy;
  /** The hash of the policy for the resumed run, which answers are bound to. */
  readonly policySha256: string;
}

/** A transcript's word on its policy proves nothing: under a lock, the policy itself is given again. */
async function policiesGiven({ policies = [], policyLock }: ResumeRequest): Promise<readonly string[]> {
  if (policyLock === undefined || policies.length > 0) return policies;
  return [(await import('../policy/lock-file.js')).lockedPolicy(policyLock)];
}

/**
 * The policy for the resumed run. Its limits are the recorded ones, lowered by policies and flags given now; if nobody
 * vouches for them, by all defaults.
 */
export async function resumedPolicy(
  resumption: Resumption & { readonly request: ResumeRequest },
): Promise<ResumedPolicy> {
  const { init, request } = resumption;
  const { folder, policyLock } = request;
  const policies = await policiesGiven(request);
  const given = policies.length === 0 ? [] : await loadPolicies({ policies, mode: undefined, folder });
  if (policyLock !== undefined) {
    const { checkLock } = await import('../policy/lock-file.js');
    await checkLock(policyLock, fold(given), request.cwd ?? resumption.init.cwd);
  }
  const { documents, isVouched } = resumedPolicies(resumption, given, POLICY);
  const effective = fold(withCallback(documents, request.approve !== undefined), policyFlags(request));
  const said = isVouched ? limitsSaid(documents, request.limits) : effective.limits;
  return {
    effective: withLimits(effective, init.limits, said),
    policySha256: policyHash(documents),
  };
}
