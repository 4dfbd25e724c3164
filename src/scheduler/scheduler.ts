import pLimit from 'p-limit';
import { nearest } from '../lib/nearest.js';
import type { Call, CallResult, CallState } from '../protocol/call.js';
import { plainCommand, type Decision, type Policy } from '../protocol/decision.js';
import type { Emit } from '../protocol/event.js';
import { isMutator, type Kind } from '../protocol/kind.js';
import type { ToolError } from '../protocol/tool-error.js';
import type { Invocation, Tool } from '../protocol/tool.js';
import { CANCELLED, executeCall, type ExecuteDeps } from './execute.js';
import type { Refusals } from './refusals.js';
import { CallLifecycle } from './transitions.js';

export interface SchedulerDeps extends ExecuteDeps {
  readonly findTool: (name: string) => Tool | undefined;
  readonly toolNames: readonly string[];
  readonly policy: Policy;
  readonly refusals: Refusals;
  /** Answers an `ask`: why the call is refused, or undefined to go ahead. */
  readonly answerAsk: (decision: Decision) => ToolError | undefined;
  /** Asked before each call starts; an error keeps it from starting. */
  readonly admitCall: () => ToolError | undefined;
  readonly parallel: number;
  readonly emit: Emit;
  readonly onState: (callId: string, state: CallState) => void;
}

/** A call on its way: decided, and either ready to run or already at its end. */
interface Planned {
  readonly call: Call;
  readonly kind: Kind;
  readonly life: CallLifecycle;
  readonly invocation?: Invocation;
  readonly error?: ToolError;
}

export interface Scheduler {
  /** One result for each call, in their order. All are decided before the first one starts. */
  run(calls: readonly Call[], signal: AbortSignal): Promise<CallResult[]>;
}

export function createScheduler(deps: SchedulerDeps): Scheduler {
  const { refusals } = deps;
  const limit = pLimit(deps.parallel);

  async function plan(call: Call): Promise<Planned> {
    const tool = deps.findTool(call.name);
    const kind = tool?.kind ?? 'other';
    deps.emit({
      type: 'tool_use',
      tool_name: tool?.name ?? call.name,
      tool_id: call.id,
      parameters: call.args,
      kind,
      turn: call.turn,
    });
    const life = new CallLifecycle(call.id, (state) => deps.onState(call.id, state));
    if (!tool) return { call, kind, life, error: unknownTool(call.name, deps.toolNames) };
    const built = await tool.build(call.args);
    if (!built.ok) return { call, kind, life, error: built.error };
    const error = await decide(call, tool, built.invocation);
    if (!error) life.move('scheduled');
    return { call, kind, life, ...(error ? { error } : { invocation: built.invocation }) };
  }

  async function decide(call: Call, tool: Tool, invocation: Invocation): Promise<ToolError | undefined> {
    const before = refusals.recall(call);
    const { paths, params } = invocation;
    const answer =
      before?.decision ?? (await deps.policy.decide({ tool: tool.name, kind: tool.kind, paths, params }));
    if ('outside' in answer) return { type: 'path_not_in_workspace', message: answer.outside };
    const { decision, rule, reason, commands } = answer;
    deps.emit({
      type: 'policy_decision',
      tool_id: call.id,
      decision,
      rule,
      reason,
      ...(commands && { commands: commands.map(plainCommand) }),
    });
    if (decision === 'allow') return undefined;
    const refusal =
      before?.error ?? (decision === 'ask' ? deps.answerAsk(answer) : denied(answer, deps.policy));
    if (refusal) refusals.add(call, tool.name, answer, refusal);
    return refusal;
  }

  async function finish(planned: Planned, signal: AbortSignal): Promise<CallResult> {
    const { call, kind, life, invocation } = planned;
    const started = performance.now();
    const end = (ending: Omit<CallResult, 'call' | 'kind' | 'duration_ms'>): CallResult => {
      life.move(ending.status);
      const duration_ms = Math.round(performance.now() - started);
      const result = { call, kind, duration_ms, ...ending };
      emitResult(result, deps.emit);
      return result;
    };
    if (planned.error) return end({ status: 'error', error: planned.error });
    const refused = signal.aborted ? CANCELLED : deps.admitCall();
    if (refused) return end({ status: 'cancelled', error: refused });
    life.move('executing');
    return end(await executeCall(call, invocation as Invocation, signal, deps));
  }

  async function run(calls: readonly Call[], signal: AbortSignal): Promise<CallResult[]> {
    const planned: Planned[] = [];
    for (const call of calls) planned.push(await plan(call));

    const results: Promise<CallResult>[] = [];
    let barrier: Promise<unknown> = Promise.resolve();
    for (const next of planned) {
      // A mutator waits for all before it; whatever comes later waits for the mutator.
      const gate = isMutator(next.kind) ? Promise.all(results) : barrier;
      const result = gate.then(() => limit(() => finish(next, signal)));
      results.push(result);
      if (isMutator(next.kind)) barrier = result;
    }
    return Promise.all(results);
  }

  return { run };
}

function unknownTool(name: string, known: readonly string[]): ToolError {
  const near = nearest(name, known);
  const guess = near ? ` Did you mean ${near}?` : '';
  return {
    type: 'tool_not_registered',
    message: `There is no tool ${name}.${guess} The tools are: ${known.join(', ')}.`,
  };
}

function denied(decision: Decision, policy: Policy): ToolError {
  return {
    type: 'policy_denied',
    message: `Denied by ${decision.rule ? `rule ${decision.rule.id}` : 'the policy'}: ${decision.reason}. ${policy.summary} Do not repeat this call.`,
  };
}

function emitResult(result: CallResult, emit: Emit): void {
  const { call, kind: _kind, ...rest } = result;
  emit({ type: 'tool_result', tool_id: call.id, ...rest });
}
