import { findOwnGit } from '../lib/own-git.js';
import type { Variables } from '../lib/redact/secrets.js';
import { uselessPolicies } from '../policy/allows-nothing.js';
import type { EffectivePolicy } from '../policy/fold.js';
import { openPolicies, type PolicyRequest } from '../policy/load.js';
import type { SandboxMode } from '../protocol/sandbox.js';
import { idleTools } from '../decisions/idle-tools.js';
import { policyPlace } from '../decisions/policy-place.js';
import { resolveWorkspace } from '../decisions/workspace.js';
import { shellProgram } from '../sandbox/local.js';
import { findRipgrep } from '../tools/search/engines.js';
import { openConfined, type ConfinedQuestion } from './confined.js';
import { diskFinding } from './disk.js';
import { failureOf, ok, warn, type Finding } from './finding.js';
import { nodeFinding, programFindings } from './installed.js';
import { modelFindings } from './model.js';
import { sourceFindings } from './sources.js';

export interface DoctorRequest extends PolicyRequest {
  readonly cwd: string;
  readonly variables: Variables;
  readonly model: string | undefined;
  readonly sandbox: SandboxMode | undefined;
  /** Whether to send a request to the model. */
  readonly online: boolean;
  readonly signal: AbortSignal;
}

/** Whether everything is here that a run with these settings needs. Throws a Problem if there is no such workspace. */
export async function examine(request: DoctorRequest): Promise<Finding[]> {
  const { variables, signal } = request;
  const workspace = resolveWorkspace(request.cwd);
  const path = variables['PATH'] ?? '';
  const installed = programFindings(
    {
      git: findOwnGit({ searchPath: path, writable: [workspace] })?.file,
      shell: shellProgram(path),
      ripgrep: await findRipgrep({ workspace, path }),
    },
    signal,
  );
  const policy = await openedPolicy(request);
  const disk = diskFinding(workspace, variables['TMPDIR'] || undefined);
  if (!policy.effective) {
    const rest = ['sandbox', 'key', 'endpoint'].map((check) =>
      warn(check, 'not checked, because the policy cannot be used'),
    );
    return [nodeFinding(), ...(await installed), ...rest, ...policy.findings, disk];
  }
  const { effective } = policy;
  const [confined, model] = await Promise.all([
    confinedFindings(request, workspace, effective),
    modelFindings({ effective, ...request }),
  ]);
  const [sandbox, ...sources] = confined;
  return [
    nodeFinding(),
    ...(await installed),
    ...(sandbox ? [sandbox] : []),
    ...model,
    ...policy.findings,
    ...sources,
    disk,
  ];
}

interface OpenedPolicy {
  readonly findings: readonly Finding[];
  readonly effective?: EffectivePolicy;
}

async function openedPolicy(request: DoctorRequest): Promise<OpenedPolicy> {
  try {
    const effective = await openPolicies(request);
    const useless = uselessPolicies(effective);
    const files = effective.sources.map(({ file }) => file);
    const said = `${files.length > 0 ? files.join(', ') : 'none'}; mode ${effective.mode}`;
    const findings = useless.length > 0 ? useless.map((why) => warn('policy', why)) : [ok('policy', said)];
    return { effective, findings };
  } catch (error) {
    return { findings: [failureOf('policy', error)] };
  }
}

/** The sandbox first, then what is started in it. */
async function confinedFindings(
  { variables, sandbox, signal }: DoctorRequest,
  workspace: string,
  effective: EffectivePolicy,
): Promise<Finding[]> {
  const home = variables['HOME'];
  const place = policyPlace({ workspace, writeProtected: [], home, untrusted: false });
  const question: ConfinedQuestion = {
    ...{ workspace, effective, variables, signal, flag: sandbox },
    ...{ policy: idleTools(effective, place).policy, untrusted: false, reserved: [], protectedFiles: [] },
    ...{ onNetwork: () => {}, onWarning: () => {}, onLost: () => {} },
  };
  const { finding, programs } = await openConfined(question);
  try {
    return [finding, ...(await sourceFindings(question, programs))];
  } finally {
    await programs?.close();
  }
}
