import { statSync } from 'node:fs';
import { attempt } from '../lib/attempt.js';
import { sandboxMode, type EffectivePolicy, type RuleSet } from '../policy/fold.js';
import { mayNeedDiscovery, mayNeedServer } from '../policy/foreign.js';
import { probe } from '../sandbox/box/bubblewrap.js';
import type { RunParts } from './run-parts.js';
import type { Probed, SandboxRequest } from './sandbox-request.js';
import type { RunRequest } from './settings.js';

/** Whether anything could ever be run. */
export function startsPrograms({ policy, effective: { ruleSets }, verifies }: SandboxRequest): boolean {
  if (verifies) return true;
  const mayRun = ruleSets.every(mayRunCommands);
  if (mayRun && policy.mayOffer({ name: 'run_shell_command', kind: 'execute' })) return true;
  return startsSources(ruleSets);
}

/** Those who bring tools from elsewhere, and are programs of this machine. */
function startsSources(sets: readonly RuleSet[]): boolean {
  if (sets.some(({ discovery }) => discovery) && sets.every(mayNeedDiscovery)) return true;
  const servers = sets.flatMap((set) => set.servers);
  return servers.some(
    ({ name, connection }) => connection.type === 'stdio' && sets.every((set) => mayNeedServer(set, name)),
  );
}

/**
 * Whether it is worth looking for a sandbox before all is known about a run: where the answer is no, nothing can be
 * started, whatever comes.
 */
function mayStartPrograms({ ruleSets }: EffectivePolicy, verifies: boolean): boolean {
  return verifies || ruleSets.every(mayRunCommands) || startsSources(ruleSets);
}

/** Whether a command line could get through: by the mode, by a rule, or because somebody is there to say yes. */
function mayRunCommands({ mode, rules, onAsk }: RuleSet): boolean {
  const isAllowed = rules.some(
    ({ decision, tools }) => decision === 'allow' && tools.includes('run_shell_command'),
  );
  return mode === 'yolo' || isAllowed || (mode !== 'plan' && onAsk !== 'deny' && onAsk !== 'fail');
}

/** Begins to look for a sandbox: that takes about as long as to make the model ready. */
export function lookAhead(
  { sandbox, dryRun }: RunRequest,
  { workspace, effective, resumed }: RunParts,
): Promise<Probed> | undefined {
  const mode = sandboxMode(effective.sandbox.mode, sandbox);
  const before = resumed?.recorded.init.success?.verify ?? [];
  const verifies = !dryRun && before.length + effective.success.verify.length > 0;
  if (mode === 'off' || (mode === 'auto' && !mayStartPrograms(effective, verifies))) return undefined;
  return probeFor(workspace);
}

/** Whether bubblewrap works here, for programs in this workspace. */
export async function probeFor(workspace: string): Promise<Probed> {
  if (workspace === '/') return { reason: 'the workspace is the whole machine' };
  const owner = attempt(() => statSync(workspace).uid) ?? 0;
  return probe({ platform: process.platform, foreignOwner: process.getuid?.() === 0 && owner !== 0 });
}
