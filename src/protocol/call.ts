import type { Part } from './content.js';
import type { Kind } from './kind.js';
import type { ToolError } from './tool-error.js';
import type { FileChange, ProcessEnd } from './tool.js';
import type { ModelUsage } from './usage.js';

export const CALL_STATES = [
  'validating',
  'awaiting_approval',
  'scheduled',
  'executing',
  'success',
  'error',
  'cancelled',
] as const;
export type CallState = (typeof CALL_STATES)[number];
export type FinalState = Extract<CallState, 'success' | 'error' | 'cancelled'>;

/** A call as the model asked for it. */
export interface Call {
  /** Unique in the run; events and answers refer to it. */
  readonly id: string;
  /** The id that goes back to the model: its own, or ours if it gave none. */
  readonly wireId: string;
  readonly name: string;
  readonly args: unknown;
  readonly turn: number;
}

/** How a call ended. Every call has exactly one result. */
export interface CallResult {
  readonly call: Call;
  readonly kind: Kind;
  readonly status: FinalState;
  /** What the model reads, if the call succeeded. */
  readonly output?: string | Readonly<Record<string, unknown>>;
  /** Media that go to the model with the output. */
  readonly media?: readonly Part[];
  readonly error?: ToolError;
  readonly duration_ms: number;
  readonly change?: FileChange;
  readonly process?: ProcessEnd;
  readonly full_output?: string;
  /** It was not executed: the run is a dry run. */
  readonly suppressed?: true;
  readonly usage?: ModelUsage;
}
