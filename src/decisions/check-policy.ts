import { createChecker, type Checker } from '../policy/check.js';
import { openPolicies, type PolicyRequest } from '../policy/load.js';
import { idleTools } from './idle-tools.js';
import { policyPlace, shellFacts } from './policy-place.js';
import type { Variables } from '../lib/redact/secrets.js';
import { resolveWorkspace } from './workspace.js';

export interface CheckRequest extends PolicyRequest {
  readonly cwd: string;
  readonly home: string | undefined;
  readonly untrusted: boolean;
  /** Where to look for the shell that would run command lines. */
  readonly searchPath: string | undefined;
  /** The environment that commands would see. */
  readonly variables?: Variables;
}

/** Decides about calls without making them. */
export async function openChecker(request: CheckRequest): Promise<Checker> {
  const workspace = resolveWorkspace(request.cwd);
  const { ruleSets, shell, sandbox } = await openPolicies(request);
  const { home, untrusted, searchPath, variables = {} } = request;
  const place = policyPlace({
    workspace,
    writeProtected: [],
    home,
    untrusted,
    ...shellFacts(shell, variables, searchPath),
    // Only a required sandbox is sure to be there.
    hiddenBySandbox: () => sandbox.mode === 'required',
  });
  const { policy, registry } = idleTools({ ruleSets }, place);
  return createChecker(ruleSets, place, { policy, find: registry.find });
}
