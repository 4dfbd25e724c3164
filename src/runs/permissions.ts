import { watchApprover, type WatchedApprover } from '../approvals/watched-approver.js';
import { realPaths } from '../lib/real-path.js';
import { enginesWithRemedies, filesNamedIn } from '../policy/engines.js';
import type { NamedFiles } from '../policy/named-files.js';
import { approversIn } from '../policy/on-ask.js';
import type { Policy } from '../protocol/decision.js';
import type { SuccessChecks } from '../success/prepare.js';
import { policyPlace, shellFacts } from '../decisions/policy-place.js';
import type { RunBase } from './run-base.js';
import { runnerFiles } from '../sandbox/environment.js';
import type { RunRequest } from './run-request.js';

/** What a run may do, and the files that decide it. */
export interface Permissions {
  readonly policy: Policy;
  readonly named: NamedFiles;
  readonly approver: WatchedApprover;
  /** Tells the policy whether a sandbox hides files, which is only known once programs can be started. */
  readonly confinement: { active: boolean };
}

export function permissionsOf(
  { variables, protect = [] }: RunRequest,
  { workspace, effective, session }: RunBase,
  { checks, untrusted }: { readonly checks: SuccessChecks; readonly untrusted: boolean },
): Permissions {
  const approver = watchApprover(approversIn(effective.ruleSets), workspace);
  const own = [...session.own, ...checks.own, ...approver.files, ...runnerFiles(variables), ...protect];
  const confinement = { active: false };
  const place = policyPlace({
    workspace,
    writeProtected: realPaths(own),
    home: variables['HOME'],
    untrusted,
    ...shellFacts(effective.shell, variables),
    hiddenBySandbox: () => confinement.active,
  });
  return {
    policy: enginesWithRemedies(effective.ruleSets, place),
    named: filesNamedIn(effective.ruleSets, place),
    approver,
    confinement,
  };
}
