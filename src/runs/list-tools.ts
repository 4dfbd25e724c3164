import type { EffectivePolicy } from '../policy/fold.js';
import { openPolicies, type PolicyRequest } from '../policy/load.js';
import { listingOf, type ListedTool } from '../tools/listing.js';
import { idleTools, type IdleTools } from '../decisions/idle-tools.js';
import { policyPlace } from '../decisions/policy-place.js';
import { openRunPrograms } from './sandbox.js';
import type { RunRequest } from './run-request.js';
import { resolveWorkspace } from '../decisions/workspace.js';
import { askSources } from './sources.js';

export interface ListRequest extends PolicyRequest {
  readonly cwd: string;
  readonly variables: RunRequest['variables'];
  /** Gets what servers print, and what is wrong with their tools. */
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

/** The tools that the model would get under a policy or in a mode, and those it would not. Servers are asked. */
export async function listTools(request: ListRequest): Promise<ListedTool[]> {
  const workspace = resolveWorkspace(request.cwd);
  const effective = await openPolicies(request);
  const place = policyPlace({ workspace, writeProtected: [], home: undefined, untrusted: false });
  const { policy, registry } = idleTools(effective, place);
  await takeTools(request, { workspace, effective, policy, registry });
  return listingOf(registry, policy, request.log);
}

interface Asking extends IdleTools {
  readonly workspace: string;
  readonly effective: EffectivePolicy;
}

/** Starts the sources of external tools, lists their tools, and ends them again. */
async function takeTools(
  { variables, log, signal }: ListRequest,
  { workspace, effective, policy, registry }: Asking,
): Promise<void> {
  if (effective.ruleSets.every(({ servers, discovery }) => servers.length === 0 && !discovery)) return;
  const common = { workspace, variables, onWarning: log };
  const programs = await openRunPrograms({
    ...{ ...common, effective, policy, signal, onLost: log, onNetwork: () => {}, flag: undefined },
    ...{ verifies: false, untrusted: false, reserved: [], protectedFiles: [] },
  });
  if (programs.warning !== undefined) log(programs.warning);
  const surroundings = { ...common, log, onTools: registry.replace };
  try {
    const sources = await askSources(effective, programs, surroundings, signal);
    await sources.close();
    if (sources.problem) throw sources.problem;
  } finally {
    await programs.close();
  }
}
