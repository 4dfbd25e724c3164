import type { Call, CallResult } from '../protocol/call.js';
import type { Content } from '../protocol/content.js';
import type { TurnEvent } from '../protocol/event.js';
import type { AnswerForm } from '../protocol/review.js';
import type { JsonSchema } from '../protocol/tool.js';
import type { Usage } from '../protocol/usage.js';
import type { RecordedCall, RecordedRun } from './fold.js';

type History = readonly Content[];

/** How a conversation is put together: as it was the first time, by the same parts. */
export interface Conversation {
  /** Names the calls of each turn. */
  readonly nameCalls: (content: Content, turn: number) => Call[];
  readonly append: (history: History, content: Content) => History;
  /** Answers all calls of a turn. */
  readonly answer: (results: readonly CallResult[], notices: readonly string[]) => Content;
  readonly withNotice: (result: CallResult, notice: string) => CallResult;
  readonly compressed: (history: History, task: Content, notes: string, kept: number) => History;
  /** Whether a turn was acted on. */
  readonly wasUsable: (turn: TurnEvent, history: History) => boolean;
  /** Repairs of the answer's form, not of the work. */
  readonly formRepair: string;
}

/** The model's last turn, if not everything in it is done. */
interface OpenTurn {
  readonly content: Content;
  readonly calls: readonly Call[];
  readonly usage?: Usage;
}

/** Where the conversation goes on. */
export interface ResumedStart {
  readonly history: History;
  readonly open?: OpenTurn;
  readonly form?: AnswerForm;
  readonly nameCalls: Conversation['nameCalls'];
}

/** The conversation of a run as it was when it stopped. */
export interface Rebuilt {
  readonly start: ResumedStart;
  /** Every call by its id. */
  readonly calls: ReadonlyMap<string, Call>;
  /** What the model is to be told besides the results of the turn that is still open. */
  readonly notices: readonly string[];
  /** How often the model was asked to mend the form of its answer, and its work. */
  readonly repairs: { readonly form: number; readonly success: number };
  /** What the calls of each turn came to, for whoever looks for loops. */
  readonly turns: readonly (readonly CallResult[])[];
  /** The last summary of what is no longer in the history. */
  readonly summary: string | undefined;
}

type Open = OpenTurn & { readonly notices: string[] };

/** Says the conversation once more, from what was recorded. */
export function rebuild(
  run: RecordedRun,
  outputSchema: JsonSchema | undefined,
  { nameCalls, append, answer, withNotice, compressed, wasUsable, formRepair }: Conversation,
): Rebuilt {
  const calls = new Map<string, Call>();
  let history: History = [];
  let open: Open | undefined;
  const repairs = { form: 0, success: 0 };
  let repairing = false;
  let first: Content | undefined;
  let summary: string | undefined;
  const turns: (readonly CallResult[])[] = [];

  const closeTurn = () => {
    if (!open) return;
    history = append(history, open.content);
    const results = open.calls.map((call) => recordedResult(call, run.calls.get(call.id)));
    const seen = results.map((result) => {
      const notice = run.calls.get(result.call.id)?.notice;
      return notice === undefined ? result : withNotice(result, notice);
    });
    if (seen.length > 0) history = append(history, answer(seen, open.notices));
    turns.push(results);
    open = undefined;
  };

  for (const step of run.steps) {
    switch (step.type) {
      case 'limit_notice':
        open?.notices.push(step.message);
        break;
      case 'message':
        closeTurn();
        repairing = step.repair === formRepair;
        if (step.repair !== undefined) repairs[repairing ? 'form' : 'success']++;
        history = append(history, { role: 'user', parts: step.parts ?? [{ text: step.content }] });
        break;
      case 'compression': {
        closeTurn();
        const [task] = history;
        if (!step.used || step.summary === undefined || !task) break;
        first ??= task;
        summary = step.summary;
        history = compressed(history, first, summary, step.contents + 1);
        break;
      }
      case 'turn': {
        closeTurn();
        // It ended the run, or would have: the model is asked anew.
        if (!wasUsable(step, history)) break;
        const named = nameCalls(step.content, step.index);
        for (const call of named) calls.set(call.id, call);
        const { content, usage } = step;
        open = { content, calls: named, notices: [], ...(usage && { usage }) };
        repairing = false;
        break;
      }
      default:
        step satisfies never;
    }
  }
  const form = repairing && outputSchema ? { form: { schema: outputSchema } } : {};
  const { notices = [] } = open ?? {};
  const start = { history, nameCalls, ...(open && { open }), ...form };
  return { start, calls, notices, repairs, turns, summary };
}

/** What became of a call, as the scheduler said it then. */
export function recordedResult(call: Call, recorded: RecordedCall | undefined): CallResult {
  if (!recorded?.result) throw new Error(`the call ${call.id} was followed by a turn, but has no result`);
  const { status, output, media, error, duration_ms, change, process, full_output, usage } = recorded.result;
  return {
    call,
    kind: recorded.use.kind,
    status,
    duration_ms,
    ...(output !== undefined && { output }),
    ...(media && { media }),
    ...(error && { error }),
    ...(change && { change }),
    ...(process && { process }),
    ...(full_output !== undefined && { full_output }),
    ...(usage && { usage }),
  };
}
