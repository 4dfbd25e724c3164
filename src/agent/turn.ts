import type { Budget } from './budget.js';
import { historyFault, type History } from './history.js';
import { failureOutcome, replyOutcome } from './outcomes.js';
import type { AnswerForm } from '../protocol/review.js';
import { callsOf, textOf } from '../protocol/content.js';
import type { Emit, RetryEvent } from '../protocol/event.js';
import type { Outcome } from '../protocol/outcome.js';
import type { ModelReply, Provider } from '../protocol/provider.js';
import type { ToolDeclaration } from '../protocol/tool.js';

export interface TurnDeps {
  readonly provider: Provider;
  readonly system: string;
  readonly tools: readonly ToolDeclaration[];
  readonly budget: Budget;
  readonly emit: Emit;
  readonly includeThoughts: boolean;
  readonly signal: AbortSignal;
}

/** How often to ask again for an answer that cannot be used, and what to tell the model then. */
const SECOND_CHANCES: Readonly<Record<string, { readonly retries: number; readonly hint: string }>> = {
  malformed_function_call: {
    retries: 2,
    hint: 'Your last answer contained a tool call that could not be read. Make tool calls with valid JSON arguments only, nested no deeper than 200 levels.',
  },
  unexpected_tool_call: {
    retries: 2,
    hint: 'Your last answer called a tool that does not exist. Call only tools that are declared.',
  },
  empty_response: {
    retries: 1,
    hint: 'Your last answer was empty. Call a tool, or answer in text.',
  },
};

/** One usable response of the model, or the reason why there is none. */
export async function takeTurn(
  history: History,
  deps: TurnDeps,
  form?: AnswerForm,
): Promise<ModelReply | Outcome> {
  const { provider, system, budget, signal } = deps;
  const asked = form ? { tools: [], answerSchema: form.schema } : { tools: deps.tools };
  const fault = historyFault(history);
  if (fault) throw new Error(`the history breaks the protocol: ${fault}`);

  let hint: string | undefined;
  for (let attempt = 1; ; attempt++) {
    const startedMs = budget.elapsedMs;
    const reply = await provider.send({ system, contents: history, ...asked, ...(hint && { hint }) }, signal);
    if (signal.aborted) return signal.reason as Outcome;
    // The failed request may have used up the budget.
    if (reply.type === 'failure') return budget.exceeded() ?? failureOutcome(reply);

    const problem = faultOfReply(reply, history);
    const chance = problem && SECOND_CHANCES[problem];
    if (chance && attempt <= chance.retries) {
      discardReply(reply, { attempt, class: problem }, deps);
      const stop = budget.exceeded();
      if (stop) return stop;
      hint = chance.hint;
      continue;
    }
    recordTurn(reply, budget.elapsedMs - startedMs, problem !== undefined, deps);
    return problem ? replyOutcome(reply, problem) : reply;
  }
}

/** A response that cannot be used still costs. */
function discardReply(
  reply: ModelReply,
  why: Pick<RetryEvent, 'attempt' | 'class'>,
  { budget, emit }: TurnDeps,
): void {
  const { usage, model, finishReason, finishMessage } = reply;
  const cost_usd = budget.chargeTokens(usage, model);
  const said = finishMessage ? `${finishReason}: ${finishMessage}` : finishReason;
  const message = `the model's answer was not usable (${said}); asking again`;
  const cost = cost_usd === undefined ? {} : { cost_usd };
  emit({ type: 'retry', ...why, wait_ms: 0, model, message, ...(usage && { usage }), ...cost });
}

/** Whether a response can be acted on. */
export function isUsable(reply: ModelReply, history: History): boolean {
  return faultOfReply(reply, history) === undefined;
}

/** Why a complete response still cannot be used. */
function faultOfReply(reply: ModelReply, history: History): string | undefined {
  switch (reply.end) {
    case 'stop': {
      const calls = callsOf(reply.content);
      if (!calls.every(isSound)) return 'malformed_function_call';
      const empty = calls.length === 0 && textOf(reply.content.parts) === '';
      // An empty answer is fine once something was done.
      return empty && history.length === 1 ? 'empty_response' : undefined;
    }
    case 'truncated':
      return 'truncated';
    case 'malformed_call':
      return 'malformed_function_call';
    case 'unexpected_call':
      return 'unexpected_tool_call';
    case 'blocked':
      return 'blocked';
    case 'unknown':
      return 'unknown_finish_reason';
    default:
      return reply.end satisfies never;
  }
}

/** A call that can be named and answered. */
function isSound({ id, name }: { readonly id?: unknown; readonly name: unknown }): boolean {
  return typeof name === 'string' && name !== '' && (id === undefined || typeof id === 'string');
}

function recordTurn(reply: ModelReply, latency: number, unusableReply: boolean, deps: TurnDeps): void {
  const { budget, emit } = deps;
  const index = budget.turns;
  const cost_usd = budget.chargeTurn(reply.usage, reply.model);
  emit({
    type: 'turn',
    index,
    model: reply.model,
    finish_reason: reply.finishReason,
    latency_ms: Math.round(latency),
    ...(reply.usage && { usage: reply.usage }),
    ...(cost_usd !== undefined && { cost_usd }),
    content: reply.content,
  });
  if (reply.thoughts && deps.includeThoughts) emit({ type: 'thought', turn: index, content: reply.thoughts });
  const content = textOf(reply.content.parts);
  if (content === '' || unusableReply) return;
  const phase = callsOf(reply.content).length > 0 ? 'interim' : 'final';
  emit({ type: 'message', role: 'assistant', content, phase });
}
