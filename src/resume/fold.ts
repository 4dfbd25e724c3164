import type {
  ApprovalRequestEvent,
  ApprovalResponseEvent,
  CompressionEvent,
  InitEvent,
  LimitNoticeEvent,
  MessageEvent,
  PolicyDecisionEvent,
  RunEvent,
  ToolResultEvent,
  ToolUseEvent,
  TranscriptLine,
  TurnEvent,
} from '../protocol/event.js';

/** All that a transcript says about one call. */
export interface RecordedCall {
  readonly use: ToolUseEvent;
  readonly decision?: PolicyDecisionEvent;
  /** The last request that `bosun approve` was to answer. */
  readonly deferred?: ApprovalRequestEvent;
  /** It changes something, and had begun. */
  readonly started: boolean;
  readonly result?: ToolResultEvent;
  /** What the model was told after the result. */
  readonly notice?: string;
}

/** The parts of the conversation, in order. */
export type Step = MessageEvent | TurnEvent | LimitNoticeEvent | CompressionEvent;

/** A run as its transcript records it, as far as resuming needs it. */
export interface RecordedRun {
  /** The last one: a resumed run has several. */
  readonly init: InitEvent | undefined;
  readonly steps: readonly Step[];
  readonly calls: ReadonlyMap<string, RecordedCall>;
  readonly responses: readonly ApprovalResponseEvent[];
  /** How long it has been running, all its parts together. */
  readonly runningMs: number;
}

/** A run while it is being read. */
interface Folding {
  init: InitEvent | undefined;
  readonly steps: Step[];
  readonly calls: Map<string, RecordedCall>;
  readonly responses: ApprovalResponseEvent[];
}

type Folds = {
  readonly [Type in RunEvent['type']]: (run: Folding, event: Extract<RunEvent, { type: Type }>) => void;
};

type Fold = (run: Folding, event: RunEvent) => void;

const nothing = () => {};
const step = (run: Folding, event: Step) => void run.steps.push(event);

/** What each type of event adds. One that changes what the model was sent or what a run used must add something. */
const FOLDS: Folds = {
  init: (run, event) => (run.init = event),
  message: (run, event) => void (event.role === 'user' && run.steps.push(event)),
  turn: step,
  limit_notice: step,
  compression: step,
  tool_use: (run, event) => void run.calls.set(event.tool_id, { use: event, started: false }),
  policy_decision: (run, event) => noteCall(run, event, { decision: event }),
  approval_request: (run, event) => event.deferred && noteCall(run, event, { deferred: event }),
  approval_response: (run, event) => void run.responses.push(event),
  tool_start: (run, event) => noteCall(run, event, { started: true }),
  loop_notice: (run, event) => noteCall(run, event, { notice: event.message }),
  tool_result: (run, event) => noteCall(run, event, { result: event }),
  thought: nothing,
  tool_state: nothing,
  tool_output: nothing,
  network_decision: nothing,
  verification: nothing,
  todos: nothing,
  retry: nothing,
  error: nothing,
  result: nothing,
};

function noteCall(
  { calls }: Folding,
  { tool_id }: { readonly tool_id: string },
  what: Partial<RecordedCall>,
): void {
  const call = calls.get(tool_id);
  if (call) calls.set(tool_id, { ...call, ...what });
}

/** Folds single events into the state at their end. */
export function foldTranscript(lines: readonly TranscriptLine[]): RecordedRun {
  const run: Folding = { init: undefined, steps: [], calls: new Map(), responses: [] };
  // A type that this version does not know adds nothing.
  for (const line of lines) (FOLDS[line.type] as Fold | undefined)?.(run, line);
  return { ...run, runningMs: runningTime(lines) };
}

/** From each `init` to its `result`, or to the last line without one. What `bosun approve` adds does not count. */
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
      // The result says it, without the waits for others.
      sum = line.stats.duration_ms;
      since = undefined;
    }
  }
  return Math.max(0, since === undefined ? sum : sum + last - since);
}
