import { openingOf } from '../agent/opening.js';
import { watchApprover } from '../approvals/watched-approver.js';
import { uselessPolicies } from '../policy/allows-nothing.js';
import { filesNamedIn } from '../policy/engines.js';
import type { EffectivePolicy } from '../policy/fold.js';
import { openPolicies, type PolicyRequest } from '../policy/load.js';
import { approversIn } from '../policy/on-ask.js';
import type { Variables } from '../lib/redact/secrets.js';
import { policyPlace } from '../decisions/policy-place.js';
import { sandboxPlaces } from '../runs/sandbox.js';
import { writableIn } from '../sandbox/writable.js';
import { recordingGit, repositoryFor } from '../success/changes/remember.js';
import { failureOf, ok, warn, type Finding } from './finding.js';

export interface PolicyQuestion extends PolicyRequest {
  readonly workspace: string;
  readonly variables: Variables;
}

export interface OpenedPolicy {
  readonly findings: readonly Finding[];
  /** Absent if no run could use it. */
  readonly effective?: EffectivePolicy;
}

/** Opens policies as a run does, and prepares what else in them can end it before its first request. */
export async function openedPolicy(question: PolicyQuestion): Promise<OpenedPolicy> {
  try {
    const effective = await openPolicies(question);
    const warnings = [...uselessPolicies(effective), ...preparedFor(effective, question)];
    const files = effective.sources.map(({ file }) => file);
    const said = `${files.length > 0 ? files.join(', ') : 'none'}; mode ${effective.mode}`;
    const findings = warnings.map((why) => warn('policy', why));
    return { effective, findings: findings.length > 0 ? findings : [ok('policy', said)] };
  } catch (error) {
    return { findings: [failureOf('policy', error)] };
  }
}

/** Returns warnings; throws the Problem that a run would end with. */
function preparedFor(
  effective: EffectivePolicy,
  { workspace, variables }: PolicyQuestion,
): readonly string[] {
  const { ruleSets } = effective;
  const { files } = watchApprover(approversIn(ruleSets), workspace);
  checkRecording(effective, { workspace, variables });
  const place = policyPlace({
    ...{ workspace, writeProtected: files, untrusted: false },
    home: variables['HOME'],
  });
  return openingOf(filesNamedIn(ruleSets, place), false, (text) => text).warnings;
}

/** Whether the state of the workspace can be recorded, if runs are judged by it. */
function checkRecording(
  effective: EffectivePolicy,
  { workspace, variables }: Pick<PolicyQuestion, 'workspace' | 'variables'>,
): void {
  const isPatched = effective.patch.length > 0;
  if (!isPatched && !effective.success.requireChanges) return;
  const repository = repositoryFor({ workspace, patchFor: isPatched ? '`patch` in the policy' : undefined });
  const writable = writableIn({ workspace, places: sandboxPlaces(effective), variables });
  if (repository) recordingGit(repository, { searchPath: variables['PATH'], writable });
}
