import type { Call, CallResult } from '../protocol/call.js';
import { callsOf, textOf, type Content } from '../protocol/content.js';
import { failure, type Outcome } from '../protocol/outcome.js';
import type { Usage } from '../protocol/usage.js';
import type { ContextWindow } from './context-window.js';
import { append, type History } from './history.js';
import type { LoopDetector } from './loop-detector.js';
import { fatalOutcome } from './outcomes.js';
import type { AnswerForm, Review, Reviewer } from '../protocol/review.js';
import { takeTurn, type TurnDeps } from './turn.js';

export interface AgentDeps extends TurnDeps {
  /** Policy, approval and execution: one result per call, in the model's order. */
  readonly runCalls: (calls: readonly Call[], signal: AbortSignal) => Promise<CallResult[]>;
  /** The end of the run, if the results of a turn's calls cause it. */
  readonly endAfter: (results: readonly CallResult[]) => Outcome | undefined;
  /** The one message that answers all calls of a turn. */
  readonly answer: (results: readonly CallResult[]) => Content;
  /** Judges an answer without calls: whether the run may end with it. */
  readonly review: Reviewer;
  readonly context: ContextWindow;
  readonly loops: LoopDetector;
}

export interface OpenTurn {
  readonly content: Content;
  readonly calls: readonly Call[];
  readonly usage?: Usage;
}

/** Where the conversation begins, or continues. */
export interface AgentStart {
  readonly history: History;
  /** The model's last turn, if it was taken before and is not finished. */
  readonly open?: OpenTurn;
  readonly form?: AnswerForm;
  readonly nameCalls?: NameCalls;
}

/** Talks to the model until it stops asking for tools, or something tells us to stop. */
export async function runAgent(start: AgentStart, deps: AgentDeps): Promise<Outcome> {
  const { budget, context, loops, signal } = deps;
  const nameCalls = start.nameCalls ?? callNamer();
  let { history, open, form } = start;

  while (true) {
    history = await context.fit(history);
    const stop = stopped(signal) ?? (open ? undefined : limitReached(history, deps));
    if (stop) return stop;

    const reply = open ?? (await takeTurn(history, deps, form));
    if ('status' in reply) return reply;
    context.learn(reply.usage);

    const { content } = reply;
    const calls = open?.calls ?? nameCalls(content, budget.turns - 1);
    open = undefined;
    history = append(history, content);
    if (calls.length === 0) {
      const reviewed = await reviewAnswer(textOf(content.parts), deps);
      if ('status' in reviewed) return reviewed;
      history = append(history, reviewed.ask);
      form = reviewed.form;
      continue;
    }

    const results = loops.observe(await deps.runCalls(calls, signal));
    const end = stopped(signal) ?? endAfterCalls(results, deps);
    if (end) return end;
    history = append(history, deps.answer(results));
  }
}

function limitReached(history: History, { budget, context }: AgentDeps): Outcome | undefined {
  return budget.exceeded() ?? context.overflow(history);
}

function endAfterCalls(results: readonly CallResult[], { endAfter, loops }: AgentDeps): Outcome | undefined {
  return fatalOutcome(results) ?? endAfter(results) ?? loops.outcome();
}

/** The end of the run, or a request to the model to go on. */
async function reviewAnswer(
  response: string,
  { review, emit, signal }: AgentDeps,
): Promise<Outcome | Extract<Review, { type: 'again' }>> {
  const reviewed = await review(response);
  const stop = reviewed.type === 'accepted' ? undefined : stopped(signal);
  if (stop) return stop;
  switch (reviewed.type) {
    case 'accepted': {
      const { structured, response: text } = reviewed;
      return { status: 'completed', response: text, ...('structured' in reviewed && { structured }) };
    }
    case 'given_up': {
      const { reason, message, structured } = reviewed;
      const value = structured !== undefined && { structured };
      return { ...failure('unverified', reason, message), response, ...value };
    }
    case 'again': {
      const { ask, repair } = reviewed;
      emit({ type: 'message', role: 'user', content: textOf(ask.parts), parts: ask.parts, repair });
      return reviewed;
    }
    default:
      return reviewed satisfies never;
  }
}

function stopped(signal: AbortSignal): Outcome | undefined {
  return signal.aborted ? (signal.reason as Outcome) : undefined;
}

export type NameCalls = (content: Content, turn: number) => Call[];

/** Gives every call of a run a unique id; the model's is kept unless it was used before. */
export function callNamer(): NameCalls {
  const used = new Set<string>();
  let count = 0;
  return (content, turn) =>
    callsOf(content).map(({ id, name, args }) => {
      let unique = id || `call_${++count}`;
      while (used.has(unique)) unique = `call_${++count}`;
      used.add(unique);
      return { id: unique, wireId: id || unique, name, args: args ?? {}, turn };
    });
}
