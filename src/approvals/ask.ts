import { oneLine } from '../lib/text.js';
import {
  confirmationRequest,
  grantOf,
  type ApprovalAnswer,
  type Ask,
  type AskedCall,
  type ConfirmationRequest,
  type AskResult,
} from '../protocol/approval.js';
import type { ApproverCommand, OnAsk } from '../protocol/decision.js';
import type { ApprovalResponseEvent, Emit } from '../protocol/event.js';
import type { Confirmation } from '../protocol/tool.js';
import { askCallback, type CallbackApprover } from './callback.js';
import { askCommand, type ApproverDeps } from './command.js';
import { Deferred, type LaterAnswers } from './defer.js';
import { denyAsk, notApproved } from './deny.js';
import type { Grants } from './grants.js';
import { warning } from '../protocol/warning.js';

export interface AskDeps extends ApproverDeps {
  /** A function that answers, if the policy names no approver. */
  readonly callback?: CallbackApprover;
  readonly grants: Grants;
  readonly deferred: Deferred;
  /** Answers given after the run had ended. */
  readonly answers: LaterAnswers;
  /** What is allowed without asking, for the model. */
  readonly allowed: string;
  readonly emit: Emit;
  /** Approvers see no secrets. */
  readonly redact: (request: ConfirmationRequest) => ConfirmationRequest;
}

/** An answer and what came with it. */
type Given = Omit<ApprovalResponseEvent, 'type' | 'tool_id' | 'parameters' | 'grant'>;

/** Answers "ask" as the policy says: no, later, by a program; or by an earlier "always". */
export function createAsk(deps: AskDeps): Ask {
  const { grants, deferred, emit } = deps;

  return async (asked, signal) => {
    const onAsk: OnAsk = asked.decision.onAsk ?? 'deny';
    if (onAsk === 'deny' || onAsk === 'fail' || (onAsk === 'callback' && !deps.callback))
      return { type: 'refused', error: denyAsk(asked.decision, deps.allowed) };
    const confirmation = await asked.invocation.confirmation();
    const request = redactedRequest(confirmationRequest(asked, confirmation), deps.redact);
    // An answer about this very call goes before one about all like it.
    const later = onAsk === 'defer' ? deps.answers.take(asked, request) : {};
    if (later.answer) return settle(asked, confirmation, later.answer);
    if (later.void !== undefined) {
      warn(`the answer for ${asked.call.id} does not count: ${later.void}`);
    } else if (grants.covers(asked, confirmation)) {
      const answer = { tool_call_id: asked.call.id, selected_option_id: 'proceed_once' } as const;
      return settle(asked, confirmation, { ...answer, source: 'grant' });
    }
    if (onAsk !== 'defer') return askApprover(onAsk, asked, confirmation, request, signal);
    emit({ type: 'approval_request', tool_id: asked.call.id, deferred: true, ...request });
    deferred.add(request);
    return { type: 'deferred' };
  };

  async function askApprover(
    approver: ApproverCommand | 'callback',
    asked: AskedCall,
    confirmation: Confirmation,
    request: ConfirmationRequest,
    signal: AbortSignal,
  ): Promise<AskResult> {
    emit({ type: 'approval_request', tool_id: asked.call.id, ...request });
    const source = approver === 'callback' ? 'callback' : 'command';
    const answer =
      approver === 'callback'
        ? await askCallback(deps.callback as CallbackApprover, request, signal)
        : await askCommand(approver, request, deps, signal);
    if (!('fault' in answer)) return settle(asked, confirmation, { ...plainAnswer(answer), source });
    if (signal.aborted) return { type: 'refused', error: notApproved(answer.fault) };
    warn(answer.detail ? `${answer.fault}: ${answer.detail}` : answer.fault);
    const no = { tool_call_id: asked.call.id, selected_option_id: 'cancel', reason: answer.fault } as const;
    return settle(asked, confirmation, { ...no, source });
  }

  /** Acts on an answer and records what it does. */
  function settle(asked: AskedCall, confirmation: Confirmation, given: Given): AskResult {
    const { selected_option_id, file_details, reason } = given;
    const grant = grantOf(selected_option_id, asked, confirmation);
    const invocation =
      selected_option_id === 'modify' && file_details && confirmation.type === 'edit'
        ? asked.invocation.modified?.({
            old_content: confirmation.old_content,
            new_content: file_details.new_content,
          })
        : asked.invocation;
    emit({
      type: 'approval_response',
      tool_id: asked.call.id,
      ...given,
      ...(grant && { grant }),
      ...(invocation && invocation !== asked.invocation && { parameters: invocation.params }),
    });
    if (grant) grants.add(grant);
    if (selected_option_id === 'cancel' || !invocation)
      return { type: 'refused', error: notApproved(reason || 'the approver said no') };
    const note =
      selected_option_id === 'modify' ? modifiedNote(reason) : reason && `The reviewer says: ${reason}`;
    return { type: 'proceed', invocation, ...(note && { note }) };
  }

  function warn(message: string): void {
    emit(warning('approval', message));
  }
}

/** After a redaction, an edit cannot be answered with new content: the placeholder would go into the file. */
function redactedRequest(request: ConfirmationRequest, redact: AskDeps['redact']): ConfirmationRequest {
  const clean = redact(request);
  if (clean.file_edit_details === request.file_edit_details) return clean;
  return { ...clean, options: clean.options.filter(({ id }) => id !== 'modify') };
}

const MAX_REASON = 1000;

/** Without what an approver may have added. */
function plainAnswer({
  tool_call_id,
  selected_option_id,
  file_details,
  reason,
}: ApprovalAnswer): ApprovalAnswer {
  return {
    tool_call_id,
    selected_option_id,
    ...(file_details && { file_details: { new_content: file_details.new_content } }),
    ...(reason !== undefined && { reason: oneLine(reason, MAX_REASON) }),
  };
}

function modifiedNote(reason: string | undefined): string {
  const why = reason ? ` Their reason: ${reason}` : '';
  return `Your change was modified: the approver wrote other content, which was used instead of yours. Continue from there, and do not restore yours.${why}`;
}
