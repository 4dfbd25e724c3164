import type { Kind } from './kind.js';
import type { JsonSchema } from './tool.js';

export interface OwnToolContext {
  /** The id that events tell the call by. */
  readonly callId: string;
  /** Fires when the run ends, or the call takes too long: whatever it does is not waited for then. */
  readonly signal: AbortSignal;
  /** Shown while the call goes on. */
  readonly onOutput: (text: string) => void;
}

/** A tool that a program brings which uses Bosun as a library. Policies call it `own:NAME`. */
export interface OwnTool {
  /** Up to 64 letters, digits, `_` and `-`; none that a built-in tool has. */
  readonly name: string;
  readonly displayName?: string;
  readonly description: string;
  /** JSON Schema of an object. Arguments that do not fit never get to `execute`. */
  readonly parameters: JsonSchema;
  /** What it does, for modes and for the order of calls (`other`, which counts as changing something). */
  readonly kind?: Kind;
  /** How long a call may take (10 minutes). */
  readonly timeoutMs?: number;
  /** Returns a text, or a value for JSON. What it throws is an error that the model reads. */
  execute(params: Readonly<Record<string, unknown>>, context: OwnToolContext): unknown;
}
