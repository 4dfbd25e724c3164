import type { KeyObject } from 'node:crypto';
import {
  currentRequest,
  type ApprovalAnswer,
  type ConfirmationRequest,
  type RecordedRequest,
} from '../protocol/approval.js';
import type {
  ApprovalRequestEvent,
  ApprovalResponseEvent,
  ResultEvent,
  ToolUseEvent,
  TranscriptLine,
} from '../protocol/event.js';
import { argumentsHash, bindAnswer, requestHash, type Circumstances } from './binding.js';

/** An answer as it was recorded. */
export interface WrittenAnswer extends ApprovalAnswer {
  readonly expires_at: string;
  readonly signed: boolean;
}

export interface PendingCall {
  readonly request: ConfirmationRequest;
  /** The last answer, if the run has not acted on it yet. */
  readonly answer: WrittenAnswer | undefined;
}

/** A run by its transcript, as far as answers need it. */
export interface AskingRun {
  readonly calls: ReadonlyMap<
    string,
    {
      readonly use: ToolUseEvent;
      readonly deferred?: ApprovalRequestEvent;
      readonly result?: unknown;
    }
  >;
  readonly responses: readonly ApprovalResponseEvent[];
}

/** Deferred calls without a result, in the order of the run. */
export function pendingIn({ calls, responses }: AskingRun): PendingCall[] {
  return [...calls.values()].flatMap(({ deferred, result }) => {
    if (!deferred || result) return [];
    const answer = responses.findLast(
      ({ tool_id, source }) => tool_id === deferred.tool_id && source === 'approve',
    );
    return { request: currentRequest(requestIn(deferred)), answer: answer && written(answer) };
  });
}

function written(event: ApprovalResponseEvent): WrittenAnswer {
  const { tool_call_id, selected_option_id, file_details, reason, binding } = event;
  return {
    tool_call_id,
    selected_option_id,
    ...(file_details && { file_details }),
    ...(reason !== undefined && { reason }),
    expires_at: binding?.expires_at ?? '',
    signed: binding?.signature !== undefined,
  };
}

/** What was shown, as it was recorded: an answer is bound to that. */
function requestIn(event: ApprovalRequestEvent): RecordedRequest {
  const { tool_call_id, tool_name, display_name, title, risk, reason, options, parameters } = event;
  const { execute_details, file_edit_details, mcp_details, generic_details } = event;
  return {
    tool_call_id,
    tool_name,
    ...(display_name !== undefined && { display_name }),
    ...(title !== undefined && { title }),
    ...(risk !== undefined && { risk }),
    reason,
    options,
    ...(execute_details && { execute_details }),
    ...(file_edit_details && { file_edit_details }),
    ...(mcp_details && { mcp_details }),
    ...(generic_details && { generic_details }),
    ...(parameters !== undefined && { parameters }),
  };
}

type Bound = Pick<Circumstances, 'sessionId' | 'policySha256' | 'lines'>;

/** Answers as events, each bound to its call, to the policy and to a time. */
export function answerEvents(
  answers: readonly ApprovalAnswer[],
  { calls }: AskingRun,
  to: Bound & { readonly expires: Date; readonly key: KeyObject | undefined },
): ApprovalResponseEvent[] {
  const { expires, key, ...bound } = to;
  return answers.map((answer) => {
    const tool_id = answer.tool_call_id;
    const { use, deferred } = calls.get(tool_id) ?? {};
    if (!use || !deferred) throw new Error(`the call ${tool_id} does not wait`);
    const argumentsSha256 = argumentsHash(use.tool_name, use.parameters);
    const requestSha256 = requestHash(requestIn(deferred));
    const binding = bindAnswer(answer, { ...bound, argumentsSha256, requestSha256 }, expires, key);
    return { type: 'approval_response', tool_id, ...answer, source: 'approve', binding };
  });
}

/** The result of the run as before, without the calls that are answered now. */
export function stillWaiting(
  result: TranscriptLine & ResultEvent,
  answers: readonly ApprovalAnswer[],
): ResultEvent {
  const { v: _v, seq: _seq, timestamp: _time, session_id: _id, prev: _prev, ...before } = result;
  const answered = answers.map(({ tool_call_id }) => tool_call_id);
  const pending = before.pending.filter(({ tool_call_id }) => !answered.includes(tool_call_id));
  return { ...before, pending, ...(pending.length === 0 && { reason: 'answered' }) };
}
