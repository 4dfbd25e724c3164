import type { EffectivePolicy } from '../fold.js';
import type { Bench, BenchFor } from './judge.js';

/** How one bench differs from another under the same policy. */
export interface BenchFacts {
  readonly workspace: string;
  readonly untrusted: boolean;
  /** Whether a sandbox hides files from commands. */
  readonly isHidden: boolean;
}

export interface BenchMakers {
  /** The workspace in which recorded calls are judged. */
  readonly workspaceOf: (recorded: string) => string;
  readonly benchOf: (facts: BenchFacts) => Omit<Bench, 'key'>;
}

/** Creates each bench once, however many calls are judged there. */
export function benchesFor({ sandbox }: EffectivePolicy, { workspaceOf, benchOf }: BenchMakers): BenchFor {
  const made = new Map<string, Bench>();
  const workspaces = new Map<string, string>();
  return ({ workspace: recorded }, { untrusted, sandboxed }) => {
    const workspace = workspaces.get(recorded) ?? workspaceOf(recorded);
    workspaces.set(recorded, workspace);
    // If the policy leaves it open, the sandbox is as it was recorded.
    const isHidden = sandbox.mode === 'required' || (sandboxed && sandbox.mode !== 'off');
    const key = JSON.stringify([workspace, untrusted, isHidden]);
    const found = made.get(key) ?? { key, ...benchOf({ workspace, untrusted, isHidden }) };
    made.set(key, found);
    return found;
  };
}
