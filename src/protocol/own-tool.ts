import type { Kind } from './kind.js';
import type { JsonSchema } from './tool.js';

export interface OwnToolContext {
  /** The id of the call in events. */
  readonly callId: string;
  /** Fires when the run ends or the call takes too long: from then on it is not waited for. */
  readonly signal: AbortSignal;
  /** Shown while the call runs. */
  readonly onOutput: (text: string) => void;
}

/** A tool of a program that uses Bosun as a library. Policies call it `own:NAME`. */
export interface OwnTool {
  /** Up to 64 letters, digits, `_` and `-`; not the name of a built-in tool. */
  readonly name: string;
  readonly displayName?: string;
  readonly description: string;
  /** JSON Schema of an object. Arguments that do not fit never reach `execute`. */
  readonly parameters: JsonSchema;
  /** What it does, for modes and for the order of calls (`other`, which counts as changing something). */
  readonly kind?: Kind;
  /** How long a call may take (10 minutes). */
  readonly timeoutMs?: number;
  /** Returns a text, or a value for JSON. What it throws, the model reads as an error. */
  execute(params: Readonly<Record<string, unknown>>, context: OwnToolContext): unknown;
}
