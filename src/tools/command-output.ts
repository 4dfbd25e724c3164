import { liveOutput } from '../lib/live-output.js';
import type { ExecuteContext, OutputSink } from '../protocol/tool.js';

export type StoredOutput = ReturnType<OutputSink['finish']>;

/** What a command prints: shown as it comes, and stored. Output that cannot be stored ends the command. */
export interface CommandOutput {
  /** Fires if the call is cancelled, or if output cannot be stored. */
  readonly signal: AbortSignal;
  push(chunk: Uint8Array): void;
  /** Ends the output. `lost` says why it could not be stored. */
  finish(): StoredOutput | { readonly lost: unknown };
}

export function commandOutput({ openOutput, onOutput, signal }: ExecuteContext): CommandOutput {
  const output = openOutput();
  const live = liveOutput(onOutput);
  // Nobody would know what else the command did.
  const full = new AbortController();

  function stored(): StoredOutput | { readonly lost: unknown } {
    if (full.signal.aborted) return { lost: full.signal.reason as unknown };
    try {
      return output.finish();
    } catch (lost) {
      return { lost };
    }
  }

  return {
    signal: AbortSignal.any([signal, full.signal]),
    push(chunk) {
      if (full.signal.aborted) return;
      try {
        live.push(output.write(chunk));
      } catch (error) {
        full.abort(error);
      }
    },
    finish() {
      const all = stored();
      if ('lost' in all) return all;
      if (all.rest) live.push(all.rest);
      live.end();
      return all;
    },
  };
}
