import type { CallResult } from '../protocol/call.js';
import type { Content } from '../protocol/content.js';
import type { Emit } from '../protocol/event.js';
import type { Budget } from './budget.js';

export interface Answering {
  readonly budget: Budget;
  readonly emit: Emit;
  /** Makes one message of results, with notices behind them. */
  readonly respond: (results: readonly CallResult[], notices: readonly string[]) => Content;
  /** What was said about the first of them before the run was interrupted. */
  readonly before: readonly string[] | undefined;
}

/** Answers the calls of a turn, with what there is to say about limits. */
export function answering({ budget, emit, respond, before = [] }: Answering) {
  let said = before;
  return (results: readonly CallResult[]): Content => {
    const notices = budget.notices();
    for (const notice of notices) emit(notice);
    const messages = [...said, ...notices.map(({ message }) => message)];
    said = [];
    return respond(results, messages);
  };
}
