import { count } from '../lib/text.js';
import {
  answerFault,
  formerRequest,
  type AskedCall,
  type ConfirmationRequest,
} from '../protocol/approval.js';
import type { ApprovalResponseEvent } from '../protocol/event.js';
import { failure, type Outcome } from '../protocol/outcome.js';
import { argumentsHash, bindingFault, requestHash, type Circumstances } from './binding.js';

/** Calls that are answered after the run. */
export class Deferred {
  readonly requests: ConfirmationRequest[] = [];

  add(request: ConfirmationRequest): void {
    this.requests.push(request);
  }

  /** The end of the run, if a call waits. */
  outcome(transcript: string): Outcome | undefined {
    if (this.requests.length === 0) return undefined;
    const waiting = `${count(this.requests.length, 'call waits', 'calls wait')} for an approval`;
    return failure('approval_required', 'deferred', waiting, {
      hint: `Show and answer them with bosun approve ${transcript}, then continue with bosun resume ${transcript}.`,
    });
  }
}

/** An answer of `bosun approve`, as recorded in the transcript. */
export type LaterAnswer = Omit<ApprovalResponseEvent, 'type' | 'tool_id'>;

export interface LaterAnswers {
  /** The answer for a call, or why the answer it has does not count. */
  take(
    asked: AskedCall,
    request: ConfirmationRequest,
  ): { readonly answer?: LaterAnswer; readonly void?: string };
}

export const NO_ANSWERS: LaterAnswers = { take: () => ({}) };

/** Finds the last answer for each call, and checks that what it was given for is unchanged. */
export function laterAnswers(
  given: readonly LaterAnswer[],
  at: Omit<Circumstances, 'argumentsSha256' | 'requestSha256'>,
): LaterAnswers {
  const last = new Map(given.map((answer) => [answer.tool_call_id, answer]));
  return {
    take({ call, tool }, request) {
      const answer = last.get(call.id);
      if (!answer) return {};
      const circumstances = {
        ...at,
        argumentsSha256: argumentsHash(tool, call.args),
        requestSha256: requestHash(request),
        formerRequestSha256: requestHash(formerRequest(request)),
      };
      const fault = bindingFault(answer, answer.binding, circumstances) ?? answerFault(answer, request);
      return fault === undefined ? { answer } : { void: fault };
    },
  };
}
