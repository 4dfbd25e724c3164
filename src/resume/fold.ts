import type {
  ApprovalRequestEvent,
  ApprovalResponseEvent,
  CompressionEvent,
  InitEvent,
  LimitNoticeEvent,
  MessageEvent,
  PolicyDecisionEvent,
  ToolResultEvent,
  ToolUseEvent,
  TranscriptLine,
  TurnEvent,
} from '../protocol/event.js';

/** All that a transcript says of one call. */
export interface RecordedCall {
  readonly use: ToolUseEvent;
  readonly decision?: PolicyDecisionEvent;
  /** The last request whose answer was to come by `bosun approve`. */
  readonly deferred?: ApprovalRequestEvent;
  /** It changes something, and had begun. */
  readonly started: boolean;
  readonly result?: ToolResultEvent;
  /** What the model was told behind the result. */
  readonly notice?: string;
}

/** What the conversation is made of, in its order. */
export type Step = MessageEvent | TurnEvent | LimitNoticeEvent | CompressionEvent;

/** A run as its transcript tells it, as far as it is needed to go on. */
export interface RecordedRun {
  /** The last one: a run that was resumed has several. */
  readonly init: InitEvent | undefined;
  readonly steps: readonly Step[];
  readonly calls: ReadonlyMap<string, RecordedCall>;
  readonly responses: readonly ApprovalResponseEvent[];
  /** How long it has been running, all its parts together. */
  readonly runningMs: number;
}

/** Folds events, each on its own, into what is known at the end of them. */
export function foldTranscript(lines: readonly TranscriptLine[]): RecordedRun {
  let init: InitEvent | undefined;
  const steps: Step[] = [];
  const calls = new Map<string, RecordedCall>();
  const responses: ApprovalResponseEvent[] = [];
  const note = (id: string, what: Partial<RecordedCall>) => {
    const call = calls.get(id);
    if (call) calls.set(id, { ...call, ...what });
  };
  for (const line of lines) {
    switch (line.type) {
      case 'init':
        init = line;
        break;
      case 'message':
        if (line.role === 'user') steps.push(line);
        break;
      case 'turn':
      case 'limit_notice':
      case 'compression':
        steps.push(line);
        break;
      case 'tool_use':
        calls.set(line.tool_id, { use: line, started: false });
        break;
      case 'policy_decision':
        note(line.tool_id, { decision: line });
        break;
      case 'approval_request':
        if (line.deferred) note(line.tool_id, { deferred: line });
        break;
      case 'approval_response':
        responses.push(line);
        break;
      case 'tool_start':
        note(line.tool_id, { started: true });
        break;
      case 'loop_notice':
        note(line.tool_id, { notice: line.message });
        break;
      case 'tool_result':
        note(line.tool_id, { result: line });
        break;
      default:
    }
  }
  return { init, steps, calls, responses, runningMs: runningTime(lines) };
}

/** From each `init` to its `result`, or to the last line where there is none. What `bosun approve` adds is no running. */
function runningTime(lines: readonly TranscriptLine[]): number {
  let sum = 0;
  let since: number | undefined;
  let last = 0;
  for (const line of lines) {
    const now = Date.parse(line.timestamp);
    if (line.type === 'init') {
      if (since !== undefined) sum += last - since;
      since = now;
    }
    if (since === undefined) continue;
    last = now;
    if (line.type === 'result') {
      // It says so itself, without the time in which it only waited for others.
      sum = line.stats.duration_ms;
      since = undefined;
    }
  }
  return Math.max(0, since === undefined ? sum : sum + last - since);
}
