import type { Grant } from '../protocol/approval.js';
import type { Call, CallResult } from '../protocol/call.js';
import type { Content } from '../protocol/content.js';
import type {
  ApprovalResponseEvent,
  Emit,
  InitEvent,
  LimitNoticeEvent,
  PolicyDecisionEvent,
  TranscriptLine,
} from '../protocol/event.js';
import type { Task } from '../protocol/task.js';
import { isFatal, type ToolError, type ToolErrorType } from '../protocol/tool-error.js';
import { hashesOf, type Transcript } from '../protocol/transcript.js';
import type { Usage } from '../protocol/usage.js';
import type { PastCall } from './calls.js';
import type { RecordedRun } from './fold.js';
import type { LostArguments } from './lost-arguments.js';
import { recordedResult, type Rebuilt } from './rebuild.js';
import type { SignatureFault } from './resumed-policies.js';

/** A run to resume, as far as its transcript tells. */
export interface PausedRun {
  readonly recorded: RecordedRun & { readonly init: InitEvent };
  readonly rebuilt: Rebuilt;
  readonly session: Pick<Transcript, 'lines' | 'end'> & { readonly id: string };
  readonly from: NonNullable<InitEvent['resumed_from']>;
  readonly task: Task;
  /** Whether the original arguments of a call are lost. */
  readonly isLost: LostArguments;
}

/** What counts tokens, turns and calls. */
interface Counters {
  chargeTurn(usage: Usage | undefined, model: string): unknown;
  chargeTokens(usage: Usage | undefined, model: string): unknown;
  skipNotice(limit: LimitNoticeEvent['limit']): void;
  admitCall(): unknown;
}

interface DeniedCalls {
  add(call: Call, tool: string, decision: PolicyDecisionEvent, error: ToolError): void;
}

/** An answer by `bosun approve`. */
type LaterAnswer = Omit<ApprovalResponseEvent, 'type' | 'tool_id'>;

/** Answers that `bosun approve` has written meanwhile. */
export function answersIn({ recorded }: PausedRun): LaterAnswer[] {
  return recorded.responses.filter(({ source }) => source === 'approve').map(answerIn);
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

/** Errors of calls that were not allowed to run. */
const REFUSED: readonly (ToolErrorType | undefined)[] = ['policy_denied', 'approval_denied'];
const NEVER_RUN: readonly (ToolErrorType | undefined)[] = [...REFUSED, 'tool_not_registered'];

/** What was used and denied before still counts. */
export function restoreCounters(
  { recorded, rebuilt, session }: PausedRun,
  counters: Counters,
  denials: DeniedCalls,
): void {
  for (const line of session.lines) charge(counters, line);
  for (const [id, { use, decision, result }] of recorded.calls) {
    const call = rebuilt.calls.get(id);
    const error = result?.error;
    if (result && result.status !== 'cancelled' && !NEVER_RUN.includes(error?.type)) counters.admitCall();
    if (call && decision && error && REFUSED.includes(error.type))
      denials.add(call, use.tool_name, decision, error);
  }
}

/** What "always" answers cover. If keys are named, only signed answers count. */
export function grantsIn(
  { recorded, session }: PausedRun,
  trustedKeys: readonly (readonly string[])[],
  signatureFault: SignatureFault,
): Grant[] {
  const trust = { sessionId: session.id, trustedKeys, lines: hashesOf(session) };
  return recorded.responses.flatMap((response) => {
    const { grant, binding } = response;
    const trusted = binding ? !signatureFault(response, binding, trust) : trustedKeys.length === 0;
    return grant && trusted ? grant : [];
  });
}

interface Recalls {
  recall(task: Content, summary: string): void;
}

interface RecallsTurns {
  recall(results: readonly CallResult[]): void;
}

/** Restores the conversation: its first message, the notes on it, and the calls that may go in circles. */
export function restoreConversation(
  { rebuilt, recorded }: PausedRun,
  context: Recalls,
  loops: RecallsTurns,
): void {
  const [first] = recorded.steps;
  const { summary } = rebuilt;
  if (first?.type === 'message' && summary !== undefined)
    context.recall({ role: 'user', parts: first.parts ?? [{ text: first.content }] }, summary);
  for (const results of rebuilt.turns) loops.recall(results);
}

/** How much of a recording was replayed before. */
export function saidIn({ session }: PausedRun): { readonly turns: number; readonly summaries: number } {
  const countOf = (wanted: TranscriptLine['type']) =>
    session.lines.filter(({ type }) => type === wanted).length;
  return { turns: countOf('turn'), summaries: countOf('compression') };
}

/** Types that cost nothing. A new one is either charged or listed here. */
type Free =
  | (
      | 'init'
      | 'message'
      | 'thought'
      | 'tool_use'
      | 'policy_decision'
      | 'approval_request'
      | 'approval_response'
    )
  | ('tool_start' | 'tool_state' | 'tool_output' | 'network_decision' | 'verification' | 'todos')
  | ('loop_notice' | 'error' | 'result');

function charge(counters: Counters, line: TranscriptLine): void {
  switch (line.type) {
    case 'turn':
      counters.chargeTurn(line.usage, line.model);
      return;
    case 'retry':
      counters.chargeTokens(line.usage, line.model);
      return;
    case 'tool_result':
      if (line.usage) counters.chargeTokens(line.usage, line.usage.model);
      return;
    case 'compression':
      counters.chargeTokens(line.usage, line.model);
      return;
    case 'limit_notice':
      counters.skipNotice(line.limit);
      return;
    default:
      line.type satisfies Free;
  }
}

/** What is known about an earlier call. */
export function pastOf({ recorded }: PausedRun, call: Call): PastCall {
  const past = recorded.calls.get(call.id);
  if (past?.result) return { type: 'finished', result: noLongerFatal(recordedResult(call, past)) };
  return past?.started ? { type: 'interrupted', kind: past.use.kind } : { type: 'unfinished' };
}

/** An error that ended the run then, because tools did not work, does not end it again. */
function noLongerFatal(result: CallResult): CallResult {
  const { error } = result;
  return error && isFatal(error.type) ? { ...result, error: { ...error, type: 'execution_failed' } } : result;
}

/** Announced calls without a result: the reporters of this start do not know them. */
export function openUses({ recorded, session }: PausedRun): TranscriptLine[] {
  return session.lines.filter(
    (line) => line.type === 'tool_use' && !recorded.calls.get(line.tool_id)?.result,
  );
}

/** Announces no call twice. */
export function withoutRepeats({ recorded }: PausedRun, emit: Emit): Emit {
  return (event) => {
    if (event.type !== 'tool_use' || !recorded.calls.has(event.tool_id)) emit(event);
  };
}
