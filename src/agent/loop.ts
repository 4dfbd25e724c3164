import type { Call, CallResult } from '../protocol/call.js';
import { textOf, type Content, type Part } from '../protocol/content.js';
import type { Outcome } from '../protocol/outcome.js';
import type { ContextWindow } from './context-window.js';
import { append, callsOf, startHistory } from './history.js';
import type { LoopDetector } from './loop-detector.js';
import { fatalOutcome } from './outcomes.js';
import { takeTurn, type TurnDeps } from './turn.js';

export interface AgentDeps extends TurnDeps {
  /** Policy, approval and execution: one result per call, in the model's order. */
  readonly runCalls: (calls: readonly Call[], signal: AbortSignal) => Promise<CallResult[]>;
  /** The end of the run, if what became of a turn's calls brings it about. */
  readonly endAfter: (results: readonly CallResult[]) => Outcome | undefined;
  /** The one message that answers all calls of a turn. */
  readonly answer: (results: readonly CallResult[]) => Content;
  readonly context: ContextWindow;
  readonly loops: LoopDetector;
}

/** Talks to the model until it stops asking for tools, or something tells us to stop. */
export async function runAgent(task: readonly Part[], deps: AgentDeps): Promise<Outcome> {
  const { budget, context, loops, signal } = deps;
  const nameCalls = callNamer();
  let history = startHistory(task);

  while (true) {
    history = await context.fit(history);
    const stop = stopped(signal) ?? budget.exceeded() ?? context.overflow(history);
    if (stop) return stop;

    const turn = budget.turns;
    const reply = await takeTurn(history, deps);
    if ('status' in reply) return reply;
    context.learn(reply.usage);

    const calls = nameCalls(reply.content, turn);
    if (calls.length === 0) return { status: 'completed', response: textOf(reply.content.parts) };
    history = append(history, reply.content);

    const results = loops.observe(await deps.runCalls(calls, signal));
    const end = stopped(signal) ?? fatalOutcome(results) ?? deps.endAfter(results) ?? loops.outcome();
    if (end) return end;
    history = append(history, deps.answer(results));
  }
}

function stopped(signal: AbortSignal): Outcome | undefined {
  return signal.aborted ? (signal.reason as Outcome) : undefined;
}

/** Gives every call of a run an id of its own; the model's is kept unless it was used before. */
function callNamer() {
  const used = new Set<string>();
  let count = 0;
  return (content: Content, turn: number): Call[] =>
    callsOf(content).map(({ id, name, args }) => {
      let unique = id || `call_${++count}`;
      while (used.has(unique)) unique = `call_${++count}`;
      used.add(unique);
      return { id: unique, wireId: id || unique, name, args: args ?? {}, turn };
    });
}
