import { enginesOf, filesNamedIn } from '../policy/engines.js';
import type { EffectivePolicy } from '../policy/fold.js';
import { openPolicies, type PolicyRequest } from '../policy/load.js';
import type { Policy } from '../protocol/decision.js';
import { listingOf, type ListedTool } from '../tools/listing.js';
import { createRegistry, type Registry } from '../tools/registry.js';
import { idleTools } from './idle-tools.js';
import { policyPlace } from './policies.js';
import { openRunPrograms } from './sandbox.js';
import { resolveWorkspace, type RunRequest } from './settings.js';
import { askSources } from './sources.js';

export interface ListRequest extends PolicyRequest {
  readonly cwd: string;
  readonly variables: RunRequest['variables'];
  /** Hears what servers say, and what is wrong with their tools. */
  readonly log: (line: string) => void;
}

/** What the model would be offered under a policy or in a mode, and what it would not. Servers are asked for theirs. */
export async function listTools(request: ListRequest): Promise<ListedTool[]> {
  const workspace = resolveWorkspace(request.cwd);
  const effective = await openPolicies(request);
  const place = policyPlace({ workspace, writeProtected: [], home: undefined, untrusted: false });
  const policy = enginesOf(effective.ruleSets, place);
  const registry = createRegistry(idleTools(workspace, policy, filesNamedIn(effective.ruleSets, place)));
  await takeTools(request, { workspace, effective, policy, registry });
  return listingOf(registry, policy, request.log);
}

interface Asking {
  readonly workspace: string;
  readonly effective: EffectivePolicy;
  readonly policy: Policy;
  readonly registry: Registry;
}

/** Starts whoever brings external tools, takes their tools, and lets them go again. */
async function takeTools(
  { variables, log }: ListRequest,
  { workspace, effective, policy, registry }: Asking,
): Promise<void> {
  if (effective.ruleSets.every(({ servers, discovery }) => servers.length === 0 && !discovery)) return;
  const { signal } = new AbortController();
  const common = { workspace, variables, onWarning: log };
  const asked = {
    effective,
    policy,
    signal,
    onLost: log,
    onNetwork: () => {},
    flag: undefined,
    verifies: false,
    untrusted: false,
    reserved: [],
    protectedFiles: [],
  };
  const programs = await openRunPrograms({ ...common, ...asked });
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
