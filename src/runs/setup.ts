import { OutputFile } from '../lib/output-file.js';
import { errorMessage } from '../lib/errors.js';
import { oneLine } from '../lib/text.js';
import { enginesOf } from '../policy/engines.js';
import type { EffectivePolicy } from '../policy/fold.js';
import { Problem } from '../protocol/problem.js';
import type { CommandEnd } from '../protocol/process.js';
import { unattended } from '../tools/unattended.js';
import { policyPlace } from './policies.js';
import { openPrograms } from './sandbox.js';
import { redactorFor } from './redaction.js';
import { childEnvironment } from '../sandbox/environment.js';
import type { RunRequest } from './settings.js';

export interface SetupRequest extends Pick<RunRequest, 'sandbox' | 'variables'> {
  readonly workspace: string;
  readonly commands: readonly string[];
  /** Which hosts they reach: those of the policies, or all. */
  readonly network: 'policy' | 'allow';
  readonly effective: EffectivePolicy;
  /** Where what they print goes, one file each: `FILE-1.txt`. */
  readonly output: string;
  readonly signal: AbortSignal;
}

const SHOWN_OUTPUT = 4000;

/** Runs the user's own commands in a workspace, confined as a run there would be. Throws a Problem if one fails. */
export async function runSetup(request: SetupRequest): Promise<void> {
  const { workspace, commands, variables, signal, network } = request;
  const effective = network === 'policy' ? request.effective : withoutNetwork(request.effective);
  const place = policyPlace({ workspace, writeProtected: [], home: variables['HOME'], untrusted: false });
  const { timeoutMs, idleTimeoutMs } = effective.shell;
  const redactor = await redactorFor(variables, effective);
  let lost: string | undefined;
  const programs = await openPrograms({
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
    for (const [i, command] of commands.entries()) {
      const path = `${request.output}-${i + 1}.txt`;
      const output = new OutputFile(path, path, SHOWN_OUTPUT, { filter: redactor.stream() });
      const end = await programs.runCommand({
        ...{ command, directory: workspace, signal, timeoutMs, idleTimeoutMs },
        environment: unattended(childEnvironment(variables, effective.shell)),
        onOutput: (chunk) => {
          try {
            output.write(chunk);
          } catch (error) {
            lost ??= errorMessage(error);
          }
        },
      });
      const { text } = output.finish();
      signal.throwIfAborted();
      const ok =
        end.type === 'ended' && end.exitCode === 0 && end.stopped === undefined && lost === undefined;
      if (!ok) throw failed(command, lost ?? endOf(end), text);
    }
  } finally {
    await programs.close();
  }
}

/** The same policy with the network as it is. */
function withoutNetwork({ ruleSets, ...policy }: EffectivePolicy): EffectivePolicy {
  return { ...policy, network: [], ruleSets: ruleSets.map((set) => ({ ...set, network: undefined })) };
}

function endOf(end: CommandEnd): string {
  if (end.type === 'not_started') return end.message;
  if (end.stopped !== undefined) return `it was stopped (${end.stopped})`;
  return end.exitCode === null ? `it was ended by ${end.signal}` : `exit code ${end.exitCode}`;
}

function failed(command: string, why: string, text: string): Problem {
  const said = oneLine(text.trim().split('\n').slice(-3).join(' '), 300);
  const message = `the setup command \`${oneLine(command, 200)}\` failed: ${why}${said ? `: ${said}` : ''}`;
  return new Problem('tool_infra_error', 'setup', message);
}
