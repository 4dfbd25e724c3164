import type { Kind } from '../../protocol/kind.js';
import type { EvidenceCall } from '../../protocol/evidence.js';
import type { Pattern } from '../shell/alias-table.js';

/** A call of a run that may teach something. */
export interface SeenCall {
  readonly run: string;
  readonly date: string;
  readonly call: EvidenceCall;
}

/** What a rule names of a command: its first words, or exactly all of them. */
export interface CommandForm {
  readonly words: Pattern;
  readonly exact: boolean;
  /** The folder of the workspace that it ran in, if that decides what it does. */
  readonly directory?: string;
}

/** One thing that a call needs a rule for. */
export type Need =
  | { readonly type: 'command'; readonly form: CommandForm; readonly spelt: string }
  | { readonly type: 'path'; readonly tool: string; readonly kind: Kind; readonly path: string }
  | { readonly type: 'tool'; readonly tool: string };

/** Why nothing is learnt from a call, and the part of it that is the cause. */
export interface Never {
  readonly never: string;
  readonly what?: string;
  readonly form?: CommandForm;
}

/** A call with all that it needs. One that needs nothing is allowed without a rule. */
export interface LearntCall extends SeenCall {
  readonly needs: readonly Need[];
}

/** Something that was seen but is not learnt, and why: a person decides. */
export interface Unlearnt {
  readonly what: string;
  readonly why: string;
  /** What a rule about it would name, if one can. */
  readonly form?: CommandForm;
  readonly seen: readonly SeenCall[];
}

/** How often something was seen. */
export function seenCounts(seen: readonly SeenCall[]): { readonly times: number; readonly runs: number } {
  return { times: seen.length, runs: new Set(seen.map(({ run }) => run)).size };
}
