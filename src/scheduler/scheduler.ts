import { pLimit } from '../lib/limit.js';
import type { Call, CallResult } from '../protocol/call.js';
import type { Emit } from '../protocol/event.js';
import { isMutator, type Kind } from '../protocol/kind.js';
import type { ToolError } from '../protocol/tool-error.js';
import type { PathUse } from '../protocol/tool.js';
import { NOT_BEGUN, executeCall, type Ending, type ExecuteDeps } from './execute.js';
import { waitsFor } from './order.js';
import { decideAgain, planCalls, type PlanDeps, type Planned } from './plan.js';
import { withoutSecrets } from './without-secrets.js';

export interface SchedulerDeps extends ExecuteDeps, PlanDeps {
  /** Asked before each call starts; an error prevents that. */
  readonly admitCall: () => ToolError | undefined;
  readonly parallel: number;
  /** Notified of each call before it can change something, and after it has. */
  readonly changes?: {
    beforeCall(kind: Kind, paths: readonly PathUse[], signal: AbortSignal): Promise<void> | undefined;
    afterCall(kind: Kind, paths: readonly PathUse[]): Promise<void> | undefined;
  };
}

export interface Scheduler {
  /**
   * One result for each call, in their order; none for calls whose approval may come later. All are decided before the
   * first one starts.
   */
  run(calls: readonly Call[], signal: AbortSignal): Promise<CallResult[]>;
}

export function createScheduler(deps: SchedulerDeps): Scheduler {
  const limit = pLimit(deps.parallel);

  async function runPlanned(planned: Planned, isLater: boolean, signal: AbortSignal): Promise<CallResult> {
    const { call, kind, lifecycle, action } = planned;
    let started = performance.now();
    const end = (ending: Ending): CallResult => {
      lifecycle.move(ending.status);
      const duration_ms = Math.round(performance.now() - started);
      const result = { call, kind, duration_ms, ...withoutSecrets(ending, deps.redactor) };
      emitResult(result, deps.emit);
      return result;
    };
    if (action.type === 'refused') return end({ status: action.status, error: action.error });
    const refused = signal.aborted ? NOT_BEGUN : deps.admitCall();
    if (refused) return end({ status: 'cancelled', error: refused });
    lifecycle.move('executing');
    if (action.type === 'suppressed')
      return end({ status: 'success', output: action.output, suppressed: true });
    const { invocation, note } = action;
    await deps.changes?.beforeCall(kind, invocation.paths, signal);
    started = performance.now();
    const denied = isLater && kind === 'execute' ? await decideAgain(planned, deps) : undefined;
    if (denied) return end({ status: 'error', error: denied });
    if (isMutator(kind)) deps.emit({ type: 'tool_start', tool_id: call.id });
    // A call that cannot be recorded does not begin: a broken transcript stops the run.
    if (signal.aborted) return end({ status: 'cancelled', error: NOT_BEGUN });
    const ending = await executeCall(call, invocation, signal, deps);
    await deps.changes?.afterCall(kind, invocation.paths);
    return end(withNote(withNote(ending, invocation.note), note));
  }

  async function run(calls: readonly Call[], signal: AbortSignal): Promise<CallResult[]> {
    const planned = await planCalls(calls, signal, deps);
    const results: Promise<CallResult>[] = [];
    let hasChanged = false;
    for (const [i, next] of planned.entries()) {
      const gate = Promise.all(waitsFor(next, planned.slice(0, i)).map((place) => results[place]));
      const isLater = hasChanged;
      results.push(gate.then(() => limit(() => runPlanned(next, isLater, signal))));
      hasChanged ||= isMutator(next.kind) && next.action.type === 'run';
    }
    return Promise.all(results);
  }

  return { run };
}

/** The note about a call comes before its output. */
function withNote(ending: Ending, note: string | undefined): Ending {
  if (note === undefined) return ending;
  const { output, error } = ending;
  if (error) return { ...ending, error: { ...error, message: `${note}\n${error.message}` } };
  return typeof output === 'object'
    ? { ...ending, output: { note, ...output } }
    : { ...ending, output: `${note}\n${output ?? ''}` };
}

function emitResult(result: CallResult, emit: Emit): void {
  const { call, kind: _kind, ...rest } = result;
  emit({ type: 'tool_result', tool_id: call.id, ...rest });
}
