import type { Call, CallResult } from '../protocol/call.js';
import type { Emit } from '../protocol/event.js';
import type { Kind } from '../protocol/kind.js';
import type { ToolError } from '../protocol/tool-error.js';

/** What is known about a call from before the interruption. */
export type PastCall =
  | { readonly type: 'finished'; readonly result: CallResult }
  /** It changes something and had begun: whether it was done is unknown. */
  | { readonly type: 'interrupted'; readonly kind: Kind }
  /** It never began, or only read. */
  | { readonly type: 'unfinished' };

type RunCalls = (calls: readonly Call[], signal: AbortSignal) => Promise<CallResult[]>;

const INTERRUPTED: ToolError = {
  type: 'unknown',
  message:
    'This call was interrupted, outcome unknown; check before repeating. The run was stopped while it was running: it may have done all of its work, some, or nothing, and what it started may still be running.',
};

/** Runs only those calls of a turn that have not run yet; all of them get results. */
export function resumeCalls(run: RunCalls, pastOf: (call: Call) => PastCall, emit: Emit): RunCalls {
  return async (calls, signal) => {
    const results = new Map<string, CallResult>();
    for (const call of calls) {
      const past = pastOf(call);
      if (past.type === 'finished') results.set(call.id, past.result);
      if (past.type === 'interrupted') results.set(call.id, interrupted(call, past.kind, emit));
    }
    const rest = calls.filter(({ id }) => !results.has(id));
    for (const result of await run(rest, signal)) results.set(result.call.id, result);
    return calls.flatMap(({ id }) => results.get(id) ?? []);
  };
}

function interrupted(call: Call, kind: Kind, emit: Emit): CallResult {
  const ending = { status: 'error', error: INTERRUPTED, duration_ms: 0 } as const;
  emit({ type: 'tool_result', tool_id: call.id, ...ending });
  return { call, kind, ...ending };
}
