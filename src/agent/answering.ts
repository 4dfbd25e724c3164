import type { CallResult } from '../protocol/call.js';
import type { Content } from '../protocol/content.js';
import type { Emit } from '../protocol/event.js';
import type { Budget } from './budget.js';

export interface Answering {
  readonly budget: Budget;
  readonly emit: Emit;
  /** Combines results into one message, followed by notices. */
  readonly respond: (results: readonly CallResult[], notices: readonly string[]) => Content;
  /** Notices of the first of them, from before the interruption. */
  readonly before: readonly string[] | undefined;
}

/** Answers the calls of a turn, and adds notices about limits. */
export function answerWithNotices({ budget, emit, respond, before = [] }: Answering) {
  let said = before;
  return (results: readonly CallResult[]): Content => {
    const notices = budget.notices();
    for (const notice of notices) emit(notice);
    const messages = [...said, ...notices.map(({ message }) => message)];
    said = [];
    return respond(results, messages);
  };
}
