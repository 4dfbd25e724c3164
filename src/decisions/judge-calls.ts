import { statSync } from 'node:fs';
import type { Variables } from '../lib/redact/secrets.js';
import type { EffectivePolicy } from '../policy/fold.js';
import { benchesFor, type BenchMakers } from '../policy/replay/benches.js';
import { callJudge, type CallJudge } from '../policy/replay/judge.js';
import { idleTools } from './idle-tools.js';
import { policyPlace, shellFacts } from './policy-place.js';
import { resolveWorkspace } from './workspace.js';

export interface JudgeSettings {
  /** Where the calls are assumed to be made, wherever they were made. */
  readonly cwd?: string;
  /** Where calls of a missing workspace are assumed to be made. */
  readonly fallback: string;
  readonly home: string | undefined;
  readonly searchPath: string | undefined;
  readonly variables: Variables;
}

/** Decides about recorded calls under a policy, with the tools that would be called. Nothing runs. */
export function judgeUnder(effective: EffectivePolicy, settings: JudgeSettings): CallJudge {
  const workspaceOf = (recorded: string) => workspaceHere(recorded, settings);
  const benchOf = benchUnder(effective, settings);
  return callJudge(effective.ruleSets, benchesFor(effective, { workspaceOf, benchOf }));
}

/** A policy in one workspace, with the tools that are called there. */
function benchUnder({ ruleSets, shell }: EffectivePolicy, settings: JudgeSettings): BenchMakers['benchOf'] {
  return ({ workspace, untrusted, isHidden }) => {
    const place = policyPlace({
      ...{ workspace, untrusted, writeProtected: [], home: settings.home },
      ...shellFacts(shell, settings.variables, settings.searchPath),
      hiddenBySandbox: () => isHidden,
    });
    const { policy, registry } = idleTools({ ruleSets }, place);
    return { place, policy, find: registry.find };
  };
}

function workspaceHere(workspace: string, { cwd, fallback }: JudgeSettings): string {
  if (cwd !== undefined) return resolveWorkspace(cwd);
  const isHere = statSync(workspace, { throwIfNoEntry: false })?.isDirectory();
  return resolveWorkspace(isHere ? workspace : fallback);
}
