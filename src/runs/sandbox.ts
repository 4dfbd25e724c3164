import { sandboxMode, type EffectivePolicy } from '../policy/fold.js';
import { guardsOf } from '../policy/network.js';
import { secretVariables } from '../policy/secrets.js';
import { programsIn } from '../policy/sources.js';
import { mayStartPrograms, startsPrograms } from '../policy/starts-programs.js';
import type { Policy } from '../protocol/decision.js';
import type { SandboxMode } from '../protocol/sandbox.js';
import { MODEL_CREDENTIALS } from '../protocol/model-credentials.js';
import { probeFor } from '../sandbox/probe.js';
import { openGuardedPrograms, type GuardedPrograms } from '../sandbox/programs.js';
import type { NamedPlaces, Probed, SandboxRequest } from '../sandbox/request.js';
import type { RunBase } from './run-base.js';
import { childEnvironment } from '../sandbox/environment.js';
import type { RunRequest } from './run-request.js';

/** What differs from run to run; the policy says the rest. */
type Circumstances = Pick<
  SandboxRequest,
  | 'workspace'
  | 'variables'
  | 'untrusted'
  | 'reserved'
  | 'protectedFiles'
  | 'probed'
  | 'onNetwork'
  | 'onWarning'
  | 'onLost'
  | 'signal'
>;

export interface ProgramsRequest extends Circumstances {
  readonly effective: EffectivePolicy;
  readonly policy: Policy;
  /** What a flag says. */
  readonly flag: SandboxMode | undefined;
  /** Whether the user's own commands run at the end. */
  readonly verifies: boolean;
}

/** How the programs of a run are started. Throws a Problem if a sandbox is required but not available. */
export function openRunPrograms(request: ProgramsRequest): Promise<GuardedPrograms> {
  const { effective, policy, flag, verifies, variables, ...rest } = request;
  const { sandbox, shell, ruleSets, network } = effective;
  const offBy = sandbox.mode === 'off' ? 'the policy (sandbox.mode)' : '--sandbox';
  return openGuardedPrograms({
    ...rest,
    variables,
    mode: sandboxMode(sandbox.mode, flag),
    offBy,
    startsPrograms: startsPrograms(ruleSets, policy, verifies),
    boundary: policy.boundary,
    places: sandboxPlaces(effective),
    programs: programsIn(ruleSets),
    passed: shell.pass,
    environment: childEnvironment(variables, shell),
    secretNames: () => secretVariables(variables, effective, MODEL_CREDENTIALS),
    git: shell.git,
    limits: sandbox.limits,
    network: guardsOf(network),
  });
}

/** The paths that policies name. */
export function sandboxPlaces({ workspace, sandbox }: EffectivePolicy): NamedPlaces {
  const { include, readDeny, writeDeny } = workspace;
  return { include, readDeny, writeDeny, bindRo: sandbox.bindRo, bindRw: sandbox.bindRw };
}

/** Starts looking for a sandbox early: that takes about as long as opening the model. */
export function probeEarly(
  { sandbox, dryRun }: RunRequest,
  { workspace, effective, resumed }: RunBase,
): Promise<Probed> | undefined {
  const mode = sandboxMode(effective.sandbox.mode, sandbox);
  const before = resumed?.recorded.init.success?.verify ?? [];
  const verifies = !dryRun && before.length + effective.success.verify.length > 0;
  if (mode === 'off' || (mode === 'auto' && !mayStartPrograms(effective.ruleSets, verifies)))
    return undefined;
  return probeFor(workspace);
}
