import { secretVariables } from '../policy/secrets.js';
import { startsPrograms } from '../policy/starts-programs.js';
import { MODEL_CREDENTIALS } from '../protocol/model-credentials.js';
import { oneLine } from '../lib/text.js';
import { childEnvironment } from '../sandbox/environment.js';
import { exposureOf } from '../sandbox/exposure.js';
import type { GuardedPrograms } from '../sandbox/programs.js';
import { unattended } from '../tools/unattended.js';
import { openRunPrograms, type ProgramsRequest } from '../runs/sandbox.js';
import { fail, failureOf, ok, warn, type Finding } from './finding.js';

export type ConfinedQuestion = Omit<ProgramsRequest, 'verifies'>;

export interface Confined {
  readonly finding: Finding;
  /** How programs are started; absent if they cannot be as the policy wants. */
  readonly programs?: GuardedPrograms;
}

const PATIENCE_MS = 30_000;

/** Opens the sandbox of a run and starts a program in it. */
export async function openConfined(question: ConfinedQuestion): Promise<Confined> {
  let programs: GuardedPrograms;
  try {
    // As if there were a command to verify with: then programs are started in any case.
    programs = await openRunPrograms({ ...question, verifies: true });
  } catch (error) {
    return { finding: failureOf('sandbox', error) };
  }
  return { programs, finding: await findingAbout(programs, question) };
}

async function findingAbout(programs: GuardedPrograms, question: ConfinedQuestion): Promise<Finding> {
  const { active, mode, reason } = programs.state;
  const why = reason.replace(/; programs may read .*$/, '');
  if (active) return (await fault(programs, question)) ?? ok('sandbox', `${reason} (mode ${mode})`);
  const { effective, policy, variables } = question;
  const verifies = effective.success.verify.length > 0;
  if (!startsPrograms(effective.ruleSets, policy, verifies))
    return ok('sandbox', `${why}; not needed, because nothing that is allowed here starts a program`);
  const passed = effective.shell.pass;
  const secretNames = () => secretVariables(variables, effective, MODEL_CREDENTIALS);
  const exposure = exposureOf({ variables, passed, secretNames });
  const hint = 'Install bubblewrap; docs/security.md explains what the sandbox needs.';
  return exposure
    ? fail(
        'sandbox',
        'tool_infra_error',
        `programs run without a sandbox: ${why}. They may read ${exposure.places}`,
        `${hint} Or start Bosun without these variables where their values are not needed.`,
      )
    : warn('sandbox', `programs run without a sandbox: ${why}`, hint);
}

/** What is wrong with a sandbox that was opened, found out by using it. */
async function fault(
  programs: GuardedPrograms,
  { workspace, variables, effective, signal }: ConfinedQuestion,
): Promise<Finding | undefined> {
  let said = '';
  const end = await programs.runCommand({
    command: 'echo inside',
    directory: workspace,
    environment: unattended(childEnvironment(variables, effective.shell)),
    timeoutMs: PATIENCE_MS,
    idleTimeoutMs: PATIENCE_MS,
    signal,
    onOutput: (chunk) => (said = (said + Buffer.from(chunk).toString('utf8')).slice(0, 1000)),
  });
  if (end.type === 'ended' && end.exitCode === 0 && said.endsWith('inside\n')) return undefined;
  const why = end.type === 'not_started' ? end.message : `it printed ${JSON.stringify(oneLine(said, 300))}`;
  const hint = 'docs/security.md explains what the sandbox needs.';
  return fail('sandbox', 'tool_infra_error', `a command does not work in the sandbox: ${why}`, hint);
}
