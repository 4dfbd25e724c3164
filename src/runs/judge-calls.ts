import { statSync } from 'node:fs';
import type { Variables } from '../lib/redact/secrets.js';
import { enginesOf, filesNamedIn } from '../policy/engines.js';
import type { EffectivePolicy } from '../policy/fold.js';
import { callJudge, type Bench, type BenchFor, type CallJudge } from '../policy/replay/judge.js';
import { createRegistry } from '../tools/registry.js';
import { idleTools } from './idle-tools.js';
import { policyPlace, shellFacts } from './policies.js';
import { resolveWorkspace } from './settings.js';

export interface JudgeSettings {
  /** Where the calls are taken to be made, wherever they were. */
  readonly cwd?: string;
  /** The same for calls of a workspace that is not here. */
  readonly fallback: string;
  readonly home: string | undefined;
  readonly searchPath: string | undefined;
  readonly variables: Variables;
}

/** Decides about recorded calls under a policy, with the tools that would be called: nothing runs. */
export function judgeUnder(effective: EffectivePolicy, settings: JudgeSettings): CallJudge {
  return callJudge(effective.ruleSets, benches(effective, settings));
}

function benches(effective: EffectivePolicy, settings: JudgeSettings): BenchFor {
  const { ruleSets, shell, sandbox } = effective;
  const made = new Map<string, Bench>();
  const workspaces = new Map<string, string>();

  function bench(key: string, workspace: string, untrusted: boolean, hides: boolean): Bench {
    const place = policyPlace({
      workspace,
      writeProtected: [],
      home: settings.home,
      untrusted,
      ...shellFacts(shell, settings.variables, settings.searchPath),
      hiddenBySandbox: () => hides,
    });
    const policy = enginesOf(ruleSets, place);
    const registry = createRegistry(idleTools(workspace, policy, filesNamedIn(ruleSets, place)));
    return { key, place, policy, find: registry.find };
  }

  return ({ workspace }, { untrusted, sandboxed }) => {
    const here = workspaces.get(workspace) ?? workspaceHere(workspace, settings);
    workspaces.set(workspace, here);
    // Where the policy leaves it open, the sandbox is what it was.
    const hides = sandbox.mode === 'required' || (sandboxed && sandbox.mode !== 'off');
    const key = JSON.stringify([here, untrusted, hides]);
    const found = made.get(key) ?? bench(key, here, untrusted, hides);
    made.set(key, found);
    return found;
  };
}

function workspaceHere(workspace: string, { cwd, fallback }: JudgeSettings): string {
  if (cwd !== undefined) return resolveWorkspace(cwd);
  const isHere = statSync(workspace, { throwIfNoEntry: false })?.isDirectory();
  return resolveWorkspace(isHere ? workspace : fallback);
}
