import type { Budget } from '../agent/budget.js';
import type { ContextWindow } from '../agent/context-window.js';
import type { LoopDetector } from '../agent/loop-detector.js';
import { signatureFault } from '../approvals/binding.js';
import { laterAnswers, type LaterAnswer, type LaterAnswers } from '../approvals/defer.js';
import type { EffectivePolicy } from '../policy/fold.js';
import type { Grant } from '../protocol/approval.js';
import type { Call, CallResult } from '../protocol/call.js';
import type { ApprovalResponseEvent, Emit, InitEvent, TranscriptLine } from '../protocol/event.js';
import { isFatal, type ToolErrorType } from '../protocol/tool-error.js';
import type { Said } from '../providers/replay.js';
import type { Refusals } from '../scheduler/refusals.js';
import type { PastCall } from '../scheduler/resumed.js';
import { hashesOf } from '../transcript/reader.js';
import type { RecordedRun } from '../transcript/resume.js';
import type { LostArguments } from './lost-arguments.js';
import { recordedResult, type Rebuilt } from './rebuild.js';
import type { SessionBefore } from './session.js';
import type { Task } from './settings.js';

/** A run that is taken up again. */
export interface ResumedRun {
  readonly recorded: RecordedRun & { readonly init: InitEvent };
  readonly rebuilt: Rebuilt;
  readonly session: SessionBefore;
  readonly from: NonNullable<InitEvent['resumed_from']>;
  readonly task: Task;
  readonly effective: EffectivePolicy;
  /** Of the policies that it goes on under, as answers are bound to them. */
  readonly policySha256: string;
  /** Whether a call is not known as the model made it. */
  readonly isLost: LostArguments;
}

/** Answers that `bosun approve` has given meanwhile. */
export function answersOf({ recorded, session, effective, policySha256 }: ResumedRun): LaterAnswers {
  const given = recorded.responses.filter(({ source }) => source === 'approve').map(answerIn);
  return laterAnswers(given, {
    sessionId: session.id,
    policySha256,
    lines: hashesOf(session),
    trustedKeys: effective.trustedKeys,
    now: new Date(),
  });
}

function answerIn(event: ApprovalResponseEvent): LaterAnswer {
  const { tool_call_id, selected_option_id, file_details, reason, source, binding } = event;
  return {
    tool_call_id,
    selected_option_id,
    source,
    ...(file_details && { file_details }),
    ...(reason !== undefined && { reason }),
    ...(binding && { binding }),
  };
}

/** Errors of calls that were never let through. */
const REFUSED: readonly (ToolErrorType | undefined)[] = ['policy_denied', 'approval_denied'];
const NEVER_RUN: readonly (ToolErrorType | undefined)[] = [...REFUSED, 'tool_not_registered'];

/** What was used and refused before counts on. */
export function restore(
  { recorded, rebuilt, session }: ResumedRun,
  budget: Budget,
  refusals: Refusals,
): void {
  for (const line of session.lines) charge(budget, line);
  for (const [id, { use, decision, result }] of recorded.calls) {
    const call = rebuilt.calls.get(id);
    const error = result?.error;
    if (result && result.status !== 'cancelled' && !NEVER_RUN.includes(error?.type)) budget.admitCall();
    if (call && decision && error && REFUSED.includes(error.type))
      refusals.add(call, use.tool_name, decision, error);
  }
}

/** What «always» answers cover. Where keys are named, only those that are signed. */
export function grantsOf({ recorded, session, effective }: ResumedRun): Grant[] {
  const trust = { sessionId: session.id, trustedKeys: effective.trustedKeys, lines: hashesOf(session) };
  return recorded.responses.flatMap((response) => {
    const { grant, binding } = response;
    const trusted = binding ? !signatureFault(response, binding, trust) : trust.trustedKeys.length === 0;
    return grant && trusted ? grant : [];
  });
}

/** What the conversation came to before: its first message, the notes on it, and the calls that may go in circles. */
export function recall({ rebuilt, recorded }: ResumedRun, context: ContextWindow, loops: LoopDetector): void {
  const [first] = recorded.steps;
  const { summary } = rebuilt;
  if (first?.type === 'message' && summary !== undefined)
    context.recall({ role: 'user', parts: first.parts ?? [{ text: first.content }] }, summary);
  for (const results of rebuilt.turns) loops.recall(results);
}

/** What of a recording was said before. */
export function saidIn({ session }: ResumedRun): Said {
  const count = (wanted: TranscriptLine['type']) =>
    session.lines.filter(({ type }) => type === wanted).length;
  return { turns: count('turn'), summaries: count('compression') };
}

function charge(budget: Budget, line: TranscriptLine): void {
  switch (line.type) {
    case 'turn':
      budget.chargeTurn(line.usage, line.model);
      return;
    case 'retry':
      budget.chargeTokens(line.usage, line.model);
      return;
    case 'tool_result':
      if (line.usage) budget.chargeTokens(line.usage, line.usage.model);
      return;
    case 'compression':
      budget.chargeTokens(line.usage, line.model);
      return;
    case 'limit_notice':
      budget.skipNotice(line.limit);
      return;
    default:
  }
}

/** What became of a call before. */
export function pastOf({ recorded }: ResumedRun, call: Call): PastCall {
  const past = recorded.calls.get(call.id);
  if (past?.result) return { type: 'finished', result: mended(recordedResult(call, past)) };
  return past?.started ? { type: 'interrupted', kind: past.use.kind } : { type: 'unfinished' };
}

/** What kept tools from working then ended the run once; it does not do so again. */
function mended(result: CallResult): CallResult {
  const { error } = result;
  return error && isFatal(error.type) ? { ...result, error: { ...error, type: 'execution_failed' } } : result;
}

/** Calls that were announced and have no result: those who read along now have not heard of them. */
export function openUses({ recorded, session }: ResumedRun): TranscriptLine[] {
  return session.lines.filter(
    (line) => line.type === 'tool_use' && !recorded.calls.get(line.tool_id)?.result,
  );
}

/** Announces no call for the second time. */
export function withoutRepeats({ recorded }: ResumedRun, emit: Emit): Emit {
  return (event) => {
    if (event.type !== 'tool_use' || !recorded.calls.has(event.tool_id)) emit(event);
  };
}
