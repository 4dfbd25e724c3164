import { mayNeedDiscovery, mayNeedServer } from '../policy/foreign.js';
import type { PolicyDocument } from '../policy/document.js';
import type { Launcher, RunCommand } from '../protocol/process.js';
import { configProblem, Problem } from '../protocol/problem.js';
import type { SandboxMode, SandboxState } from '../protocol/sandbox.js';
import { boxedCommands, runCommand } from '../sandbox/local.js';
import type { Box } from '../sandbox/box/box.js';
import { sandboxIn, stricterSandbox } from './policies.js';
import type { SandboxRequest } from './sandbox-request.js';

/** How the programs of a run are started. */
export interface Programs {
  readonly state: SandboxState;
  readonly runCommand: RunCommand;
  /** Undefined where programs are started as they are. */
  readonly launcher: Launcher | undefined;
  close(): Promise<void>;
}

/** Opens the sandbox that the policies ask for. Throws a Problem if it is required and not to be had. */
export async function openPrograms(request: SandboxRequest): Promise<Programs> {
  const { documents } = request;
  const mode = modeIn(documents, request.mode);
  const bare = (reason: string): Programs => ({
    state: { mode, active: false, backend: null, reason },
    runCommand,
    launcher: undefined,
    close: async () => {},
  });
  if (mode === 'off') return bare('neither a policy (sandbox.mode) nor --sandbox asks for it');
  if (mode === 'auto' && !startsPrograms(request)) return bare('this run starts no programs');
  const { openBox } = await import('./sandbox-box.js');
  const box = await openBox(request, mode === 'required');
  if (!('reason' in box)) return boxed(box, mode);
  if (mode === 'auto') {
    request.onWarning(`programs run without a sandbox: ${box.reason}`);
    return bare(box.reason);
  }
  throw new Problem('tool_infra_error', 'sandbox', `the policy requires a sandbox: ${box.reason}`, {
    hint: 'docs/security.md tells what it needs; `sandbox: {mode: auto}` goes on without it.',
  });
}

function boxed(box: Box, mode: SandboxMode): Programs {
  box.prepare();
  return {
    state: { mode, active: true, backend: 'bubblewrap', reason: 'bubblewrap works here' },
    runCommand: boxedCommands(box),
    launcher: box,
    close: () => box.close(),
  };
}

/** Whether anything could ever be run. */
function startsPrograms({ policy, documents, verifies }: SandboxRequest): boolean {
  if (verifies) return true;
  if (policy.mayOffer({ name: 'run_shell_command', kind: 'execute' })) return true;
  return documents.some(
    (document) =>
      (document.discovery && mayNeedDiscovery(document)) ||
      document.servers.some(({ name }) => mayNeedServer(document, name)),
  );
}

/** A flag may only be stricter than the policies. */
function modeIn(documents: readonly PolicyDocument[], asked: SandboxMode | undefined): SandboxMode {
  const said = sandboxIn(documents);
  if (said === undefined || asked === undefined) return asked ?? said ?? 'off';
  if (stricterSandbox(asked, said) === asked) return asked;
  throw configProblem('sandbox', `--sandbox ${asked} is wider than sandbox.mode ${said} of the policy`, {
    hint: 'A flag may only narrow what a policy allows.',
  });
}
