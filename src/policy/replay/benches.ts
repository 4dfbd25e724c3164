import type { EffectivePolicy } from '../fold.js';
import type { Bench, BenchFor } from './judge.js';

/** What makes the one bench differ from another, under one policy. */
export interface BenchFacts {
  readonly workspace: string;
  readonly untrusted: boolean;
  /** Whether a sandbox hides files from commands. */
  readonly isHidden: boolean;
}

export interface BenchMakers {
  /** Where the calls of a recorded workspace are taken to be made. */
  readonly workspaceOf: (recorded: string) => string;
  readonly benchOf: (facts: BenchFacts) => Omit<Bench, 'key'>;
}

/** Makes each bench once, however many calls are judged there. */
export function benchesFor({ sandbox }: EffectivePolicy, { workspaceOf, benchOf }: BenchMakers): BenchFor {
  const made = new Map<string, Bench>();
  const workspaces = new Map<string, string>();
  return ({ workspace: recorded }, { untrusted, sandboxed }) => {
    const workspace = workspaces.get(recorded) ?? workspaceOf(recorded);
    workspaces.set(recorded, workspace);
    // Where the policy leaves it open, the sandbox is what it was.
    const isHidden = sandbox.mode === 'required' || (sandboxed && sandbox.mode !== 'off');
    const key = JSON.stringify([workspace, untrusted, isHidden]);
    const found = made.get(key) ?? { key, ...benchOf({ workspace, untrusted, isHidden }) };
    made.set(key, found);
    return found;
  };
}
