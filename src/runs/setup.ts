import { enginesOf } from '../policy/engines.js';
import { withoutNetwork, type EffectivePolicy } from '../policy/fold.js';
import { childEnvironment } from '../sandbox/environment.js';
import { runSetupCommands } from '../sandbox/setup-commands.js';
import { unattended } from '../tools/unattended.js';
import { policyPlace } from '../decisions/policy-place.js';
import { redactorFor } from './redaction.js';
import { openRunPrograms } from './sandbox.js';
import type { RunRequest } from './run-request.js';

export interface SetupRequest extends Pick<RunRequest, 'sandbox' | 'variables'> {
  readonly workspace: string;
  readonly commands: readonly string[];
  /** Which hosts they can reach: those of the policies, or all. */
  readonly network: 'policy' | 'allow';
  readonly effective: EffectivePolicy;
  /** Where to write their output, one file each: `FILE-1.txt`. */
  readonly output: string;
  readonly signal: AbortSignal;
}

/** Runs the user's own commands in a workspace, confined like a run there. Throws a Problem if one fails. */
export async function runSetup(request: SetupRequest): Promise<void> {
  const { workspace, commands, variables, signal, network, output } = request;
  const effective = network === 'policy' ? request.effective : withoutNetwork(request.effective);
  const place = policyPlace({ workspace, writeProtected: [], home: variables['HOME'], untrusted: false });
  const { timeoutMs, idleTimeoutMs } = effective.shell;
  const redactor = await redactorFor(variables, effective);
  let lost: string | undefined;
  const programs = await openRunPrograms({
    ...{ workspace, effective, variables, signal },
    policy: enginesOf(effective.ruleSets, place),
    flag: request.sandbox,
    verifies: true,
    untrusted: false,
    reserved: [],
    protectedFiles: [],
    onNetwork: () => {},
    onWarning: () => {},
    onLost: (message) => (lost = message),
  });
  try {
    await runSetupCommands({
      ...{ commands, output, redactor, signal, timeoutMs, idleTimeoutMs },
      runCommand: programs.runCommand,
      directory: workspace,
      environment: unattended(childEnvironment(variables, effective.shell)),
      lost: () => lost,
    });
  } finally {
    await programs.close();
  }
}
