import type { Call, CallResult } from '../protocol/call.js';
import type { Content } from '../protocol/content.js';
import type { CompressionEvent, MessageEvent, TurnEvent } from '../protocol/event.js';
import type { AnswerForm } from '../protocol/review.js';
import type { JsonSchema } from '../protocol/tool.js';
import type { Usage } from '../protocol/usage.js';
import type { RecordedCall, RecordedRun, Step } from './fold.js';

type History = readonly Content[];

/** How a conversation is built: as the first time, by the same parts. */
export interface Conversation {
  /** Names the calls of each turn. */
  readonly nameCalls: (content: Content, turn: number) => Call[];
  readonly append: (history: History, content: Content) => History;
  /** Answers all calls of a turn. */
  readonly answer: (results: readonly CallResult[], notices: readonly string[]) => Content;
  readonly withNotice: (result: CallResult, notice: string) => CallResult;
  readonly compressed: (history: History, task: Content, notes: string, kept: number) => History;
  /** Whether a turn could be used. */
  readonly wasUsable: (turn: TurnEvent, history: History) => boolean;
  /** Repairs of the answer's form, not of the work. */
  readonly formRepair: string;
}

/** The model's last turn, if it is not finished. */
interface OpenTurn {
  readonly content: Content;
  readonly calls: readonly Call[];
  readonly usage?: Usage;
}

/** Where the conversation continues. */
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
  /** What to tell the model besides the results of the open turn. */
  readonly notices: readonly string[];
  /** How often the model was asked to repair the form of its answer, and its work. */
  readonly repairs: { readonly form: number; readonly success: number };
  /** The results of each turn, for the loop detection. */
  readonly turns: readonly (readonly CallResult[])[];
  /** The last summary of what is no longer in the history. */
  readonly summary: string | undefined;
}

/** Rebuilds the conversation from what was recorded. */
export function rebuild(
  run: RecordedRun,
  outputSchema: JsonSchema | undefined,
  conversation: Conversation,
): Rebuilt {
  const retold = new Retelling(run, conversation);
  for (const step of run.steps) retold.say(step);
  return retold.end(outputSchema);
}

/** A conversation while it is rebuilt. */
class Retelling {
  readonly #run: RecordedRun;
  readonly #as: Conversation;
  #history: History = [];
  #open: (OpenTurn & { readonly notices: string[] }) | undefined;
  /** The last message asked the model to repair the form of its answer. */
  #repairing = false;
  readonly #repairs = { form: 0, success: 0 };
  /** The first message, before anything was summarized. */
  #first: Content | undefined;
  #summary: string | undefined;
  readonly #calls = new Map<string, Call>();
  readonly #turns: (readonly CallResult[])[] = [];

  constructor(run: RecordedRun, conversation: Conversation) {
    this.#run = run;
    this.#as = conversation;
  }

  say(step: Step): void {
    switch (step.type) {
      case 'limit_notice':
        this.#open?.notices.push(step.message);
        return;
      case 'message':
        return this.#message(step);
      case 'compression':
        return this.#compression(step);
      case 'turn':
        return this.#turn(step);
      default:
        step satisfies never;
    }
  }

  end(outputSchema: JsonSchema | undefined): Rebuilt {
    const { notices = [] } = this.#open ?? {};
    const start = {
      history: this.#history,
      nameCalls: this.#as.nameCalls,
      ...(this.#open && { open: this.#open }),
      ...(this.#repairing && outputSchema && { form: { schema: outputSchema } }),
    };
    const rest = { calls: this.#calls, repairs: this.#repairs, turns: this.#turns, summary: this.#summary };
    return { start, notices, ...rest };
  }

  #message({ repair, parts, content }: MessageEvent): void {
    this.#closeTurn();
    this.#repairing = repair === this.#as.formRepair;
    if (repair !== undefined) this.#repairs[this.#repairing ? 'form' : 'success']++;
    this.#history = this.#as.append(this.#history, { role: 'user', parts: parts ?? [{ text: content }] });
  }

  #compression({ used, summary, contents }: CompressionEvent): void {
    this.#closeTurn();
    const [task] = this.#history;
    if (!used || summary === undefined || !task) return;
    this.#first ??= task;
    this.#summary = summary;
    this.#history = this.#as.compressed(this.#history, this.#first, summary, contents + 1);
  }

  #turn(turn: TurnEvent): void {
    this.#closeTurn();
    // It ended the run, or would have: the model is asked again.
    if (!this.#as.wasUsable(turn, this.#history)) return;
    const { content, usage, index } = turn;
    const calls = this.#as.nameCalls(content, index);
    for (const call of calls) this.#calls.set(call.id, call);
    this.#open = { content, calls, notices: [], ...(usage && { usage }) };
    this.#repairing = false;
  }

  #closeTurn(): void {
    const open = this.#open;
    if (!open) return;
    const { append, answer, withNotice } = this.#as;
    this.#history = append(this.#history, open.content);
    const results = open.calls.map((call) => recordedResult(call, this.#run.calls.get(call.id)));
    const seen = results.map((result) => {
      const notice = this.#run.calls.get(result.call.id)?.notice;
      return notice === undefined ? result : withNotice(result, notice);
    });
    if (seen.length > 0) this.#history = append(this.#history, answer(seen, open.notices));
    this.#turns.push(results);
    this.#open = undefined;
  }
}

/** The result of a call, as the scheduler made it then. */
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
