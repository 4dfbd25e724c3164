import type { Call, CallResult } from '../protocol/call.js';
import { textOf, type Content, type Part } from '../protocol/content.js';
import { failure, type Outcome } from '../protocol/outcome.js';
import type { ContextWindow } from './context-window.js';
import { append, callsOf, startHistory } from './history.js';
import type { LoopDetector } from './loop-detector.js';
import { fatalOutcome } from './outcomes.js';
import type { AnswerForm, Review, Reviewer } from './review.js';
import { takeTurn, type TurnDeps } from './turn.js';

export interface AgentDeps extends TurnDeps {
  /** Policy, approval and execution: one result per call, in the model's order. */
  readonly runCalls: (calls: readonly Call[], signal: AbortSignal) => Promise<CallResult[]>;
  /** The end of the run, if what became of a turn's calls brings it about. */
  readonly endAfter: (results: readonly CallResult[]) => Outcome | undefined;
  /** The one message that answers all calls of a turn. */
  readonly answer: (results: readonly CallResult[]) => Content;
  /** Judges an answer without calls: whether the run may end with it. */
  readonly review: Reviewer;
  readonly context: ContextWindow;
  readonly loops: LoopDetector;
}

/** Talks to the model until it stops asking for tools, or something tells us to stop. */
export async function runAgent(task: readonly Part[], deps: AgentDeps): Promise<Outcome> {
  const { budget, context, loops, signal } = deps;
  const nameCalls = callNamer();
  let history = startHistory(task);
  let form: AnswerForm | undefined;

  while (true) {
    history = await context.fit(history);
    const stop = stopped(signal) ?? budget.exceeded() ?? context.overflow(history);
    if (stop) return stop;

    const turn = budget.turns;
    const reply = await takeTurn(history, deps, form);
    if ('status' in reply) return reply;
    context.learn(reply.usage);

    const calls = nameCalls(reply.content, turn);
    history = append(history, reply.content);
    if (calls.length === 0) {
      const verdict = concluded(textOf(reply.content.parts), deps);
      if ('status' in verdict) return verdict;
      history = append(history, verdict.ask);
      form = verdict.form;
      continue;
    }

    const results = loops.observe(await deps.runCalls(calls, signal));
    const end = stopped(signal) ?? fatalOutcome(results) ?? deps.endAfter(results) ?? loops.outcome();
    if (end) return end;
    history = append(history, deps.answer(results));
  }
}

/** The end of the run, or what the model is asked for once more. */
function concluded(
  response: string,
  { review, emit }: AgentDeps,
): Outcome | Extract<Review, { type: 'again' }> {
  const verdict = review(response);
  switch (verdict.type) {
    case 'accepted': {
      const { structured, response: text } = verdict;
      return { status: 'completed', response: text, ...('structured' in verdict && { structured }) };
    }
    case 'given_up':
      return { ...failure('unverified', verdict.reason, verdict.message), response };
    case 'again': {
      const { parts } = verdict.ask;
      emit({ type: 'message', role: 'user', content: textOf(parts), parts });
      return verdict;
    }
    default:
      return verdict satisfies never;
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
