import { statSync } from 'node:fs';
import { attempt } from '../lib/attempt.js';
import type { PolicyDocument } from '../policy/document.js';
import { mayNeedDiscovery, mayNeedServer } from '../policy/foreign.js';
import { configProblem } from '../protocol/problem.js';
import type { SandboxMode } from '../protocol/sandbox.js';
import { probe } from '../sandbox/box/bubblewrap.js';
import { sandboxIn, stricterSandbox } from './policies.js';
import type { RunParts } from './run-parts.js';
import type { Probed, SandboxRequest } from './sandbox-request.js';
import type { RunRequest } from './settings.js';

/** Whether anything could ever be run. */
export function startsPrograms({ policy, documents, verifies }: SandboxRequest): boolean {
  if (verifies) return true;
  const mayRun = documents.every(mayRunCommands);
  if (mayRun && policy.mayOffer({ name: 'run_shell_command', kind: 'execute' })) return true;
  return startsSources(documents);
}

/** Those who bring tools from elsewhere, and are programs of this machine. */
function startsSources(documents: readonly PolicyDocument[]): boolean {
  if (documents.some(({ discovery }) => discovery) && documents.every(mayNeedDiscovery)) return true;
  const servers = documents.flatMap((document) => document.servers);
  return servers.some(
    ({ name, connection }) =>
      connection.type === 'stdio' && documents.every((document) => mayNeedServer(document, name)),
  );
}

/**
 * Whether it is worth looking for a sandbox before all is known about a run: where the answer is no, nothing can be
 * started, whatever comes.
 */
function mayStartPrograms(documents: readonly PolicyDocument[], verifies: boolean): boolean {
  return verifies || documents.every(mayRunCommands) || startsSources(documents);
}

/** Whether a command line could get through: by the mode, by a rule, or because somebody is there to say yes. */
function mayRunCommands({ mode, rules, onAsk }: PolicyDocument): boolean {
  const isAllowed = rules.some(
    ({ decision, tools }) => decision === 'allow' && tools.includes('run_shell_command'),
  );
  return mode === 'yolo' || isAllowed || (mode !== 'plan' && onAsk !== 'deny' && onAsk !== 'fail');
}

/** A flag may only be stricter than policies that speak of the sandbox. Where nobody does, it is made where it works. */
export function modeIn(documents: readonly PolicyDocument[], asked: SandboxMode | undefined): SandboxMode {
  const said = sandboxIn(documents);
  if (said === undefined || asked === undefined) return asked ?? said ?? 'auto';
  if (stricterSandbox(asked, said) === asked) return asked;
  throw configProblem('sandbox', `--sandbox ${asked} is wider than sandbox.mode ${said} of the policy`, {
    hint: 'A flag may only narrow what a policy allows.',
  });
}

/** Begins to look for a sandbox: that takes about as long as to make the model ready. */
export function lookAhead(
  { sandbox, verify = [], dryRun }: RunRequest,
  { workspace, documents, resumed }: RunParts,
): Promise<Probed> | undefined {
  const mode = modeIn(documents, sandbox);
  const before = resumed?.recorded.init.success?.verify ?? [];
  const commands = [...verify, ...before, ...documents.flatMap(({ success }) => success.verify)];
  const verifies = !dryRun && commands.length > 0;
  if (mode === 'off' || (mode === 'auto' && !mayStartPrograms(documents, verifies))) return undefined;
  return probeFor(workspace);
}

/** Whether bubblewrap works here, for programs in this workspace. */
export async function probeFor(workspace: string): Promise<Probed> {
  if (workspace === '/') return { reason: 'the workspace is the whole machine' };
  const owner = attempt(() => statSync(workspace).uid) ?? 0;
  return probe({ platform: process.platform, foreignOwner: process.getuid?.() === 0 && owner !== 0 });
}
