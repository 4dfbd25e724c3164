import { findOwnGit } from '../lib/own-git.js';
import type { Variables } from '../lib/redact/secrets.js';
import { searchPathOutside } from '../lib/search-path.js';
import type { EffectivePolicy } from '../policy/fold.js';
import type { PolicyRequest } from '../policy/load.js';
import type { SandboxMode } from '../protocol/sandbox.js';
import { idleTools } from '../decisions/idle-tools.js';
import { policyPlace } from '../decisions/policy-place.js';
import { resolveWorkspace } from '../decisions/workspace.js';
import { shellProgram } from '../sandbox/local.js';
import { findRipgrep } from '../tools/search/engines.js';
import { openConfined, type ConfinedQuestion } from './confined.js';
import { diskFinding } from './disk.js';
import { warn, type Finding } from './finding.js';
import { nodeFinding, programFindings } from './installed.js';
import { modelFindings } from './model.js';
import { openedPolicy } from './policy.js';
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

/**
 * Checks that everything that a run with these settings needs is here. Throws a Problem if there is no such
 * workspace.
 */
export async function examine(request: DoctorRequest): Promise<Finding[]> {
  const { variables, signal } = request;
  const workspace = resolveWorkspace(request.cwd);
  const path = variables['PATH'] ?? '';
  const installed = programFindings(
    {
      git: findOwnGit({ searchPath: path, writable: [workspace] })?.file,
      // It is started outside of any sandbox.
      shell: shellProgram(searchPathOutside([workspace], path)),
      ripgrep: await findRipgrep({ workspace, path }),
    },
    signal,
  );
  const policy = await openedPolicy({ ...request, workspace });
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
  return [
    nodeFinding(),
    ...(await installed),
    ...confined.sandbox,
    ...model,
    ...policy.findings,
    ...confined.sources,
    disk,
  ];
}

interface ConfinedFindings {
  readonly sandbox: readonly Finding[];
  /** Of what is started in it. */
  readonly sources: readonly Finding[];
}

async function confinedFindings(
  { variables, sandbox, signal }: DoctorRequest,
  workspace: string,
  effective: EffectivePolicy,
): Promise<ConfinedFindings> {
  const home = variables['HOME'];
  const warnings = new Set<string>();
  const place = policyPlace({ workspace, writeProtected: [], home, untrusted: false });
  const question: ConfinedQuestion = {
    ...{ workspace, effective, variables, signal, flag: sandbox },
    ...{ policy: idleTools(effective, place).policy, untrusted: false, reserved: [], protectedFiles: [] },
    ...{ onNetwork: () => {}, onWarning: (why: string) => void warnings.add(why), onLost: () => {} },
  };
  const { finding, programs } = await openConfined(question);
  try {
    const sources = await sourceFindings(question, programs);
    return { sandbox: [finding, ...[...warnings].map((why) => warn('sandbox', why))], sources };
  } finally {
    await programs?.close();
  }
}
