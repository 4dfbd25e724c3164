import type { Content } from '../protocol/content.js';
import type { Emit } from '../protocol/event.js';
import { failure, type Outcome } from '../protocol/outcome.js';
import type { Provider } from '../protocol/provider.js';
import type { ToolDeclaration } from '../protocol/tool.js';
import type { Usage } from '../protocol/usage.js';
import type { Budget } from './budget.js';
import { compressionBoundary, compressed, notesPart } from './compress.js';
import { Gauge, estimatedTokens } from './estimate.js';
import type { History } from './history.js';
import { recordOf } from './record.js';
import { summaryNotes, summaryRequest, type Notes } from './summarize.js';

export interface WindowSettings {
  /** Tokens that the model takes. A fallback may replace the first model. */
  readonly window: () => number;
  /** How full the window must be before compression: 0 to 1. */
  readonly compressAt: number;
}

export interface WindowDeps {
  readonly provider: Provider;
  readonly system: string;
  readonly tools: readonly ToolDeclaration[];
  readonly budget: Budget;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

/** Room for an answer and for a summary, but never more than an eighth of the window. */
const OUTPUT_RESERVE = 8192;
const NOTES_RESERVE = 2000;
/** How much of the window the record for a summary may fill. */
const RECORD = 0.5;
/** How much of the window must fill up before compression is tried again. */
const GROWTH = 0.1;

/** Keeps a conversation inside the model's window. */
export class ContextWindow {
  readonly #settings: WindowSettings;
  readonly #deps: WindowDeps;
  readonly #gauge: Gauge;
  #task: Content | undefined;
  #notes: string | undefined;
  /** Below this size nothing is tried: the last attempt was recent. Undefined until its effect is known. */
  #quietUntil: number | undefined = 0;

  constructor(settings: WindowSettings, deps: WindowDeps) {
    this.#settings = settings;
    this.#deps = deps;
    this.#gauge = new Gauge(estimatedTokens([deps.system, deps.tools]));
  }

  /** The history to send: compressed if it is time for that, and if that helps. */
  async fit(history: History): Promise<History> {
    const tokens = this.#gauge.tokens(history);
    const tooLarge = this.overflow(history) !== undefined;
    if (!tooLarge && !this.#isDue(tokens)) return history;
    const room = tooLarge ? this.#gauge.room(this.#limit) - this.#reserve(NOTES_RESERVE) : undefined;
    const kept = compressionBoundary(history, this.#gauge.sizes, room);
    const { budget, signal } = this.#deps;
    if (kept === undefined || signal.aborted || budget.exceeded()) return history;
    return this.#compress(history, kept, tokens);
  }

  /** Asked before a request: the end of the run, if it would be too large. */
  overflow(history: History): Outcome | undefined {
    const tokens = this.#gauge.tokens(history);
    if ((this.#gauge.confirmed ? tokens : this.#gauge.least(tokens)) <= this.#limit) return undefined;
    const window = this.#window;
    const message = `the next request would have about ${tokens} tokens; ${this.#deps.provider.model} takes ${window}, ${window - this.#limit} of them for its answer`;
    return failure('limit', 'context', message, {
      hint: 'It was not sent. Attach less, lower limits.tool_output, or use a model with a larger window; if this one has it, set model.context_window.',
    });
  }

  /** The next history is a compressed one: of this task, with these notes in it. */
  recall(task: Content, notes: string): void {
    this.#task = task;
    this.#notes = notes;
  }

  /** The history was sent; `usage` is what the model counted. */
  learn(usage: Usage | undefined): void {
    this.#gauge.learn(usage?.prompt);
    this.#quietUntil ??= this.#gauge.prompt + this.#window * GROWTH;
  }

  get #window(): number {
    return this.#settings.window();
  }

  /** How large a request may be. */
  get #limit(): number {
    return this.#window - this.#reserve(OUTPUT_RESERVE);
  }

  #reserve(tokens: number): number {
    return Math.min(tokens, Math.floor(this.#window / 8));
  }

  #isDue(tokens: number): boolean {
    const quietUntil = this.#quietUntil ?? Infinity;
    return this.#gauge.prompt > this.#window * this.#settings.compressAt && tokens >= quietUntil;
  }

  async #compress(history: History, kept: number, before: number): Promise<History> {
    const { emit, signal } = this.#deps;
    const task = (this.#task ??= history[0] as Content);
    const { answer, cost } = await this.#askForNotes(task, history.slice(1, kept));
    if (signal.aborted) return history;
    const facts = { type: 'compression', before_tokens: before, contents: kept - 1, ...cost } as const;
    const notes = this.#worthwhile(answer, kept);
    if (typeof notes !== 'string') {
      this.#quietUntil = before + this.#window * GROWTH;
      emit({ ...facts, used: false, after_tokens: before, reason: notes.fault, message: notes.why });
      return history;
    }
    const shorter = compressed(history, task, notes, kept);
    this.#gauge.replace(shorter[0] as Content, kept);
    this.#notes = notes;
    this.#quietUntil = undefined;
    emit({ ...facts, used: true, after_tokens: this.#gauge.tokens(shorter), summary: notes });
    return shorter;
  }

  async #askForNotes(task: Content, contents: History) {
    const { provider, budget, signal } = this.#deps;
    const room = this.#gauge.bytesIn(this.#window * RECORD);
    const request = summaryRequest(recordOf({ task, notes: this.#notes, contents }, room));
    const startedMs = budget.elapsedMs;
    const reply = await provider.send(request, signal);
    const { model, usage } = reply.type === 'reply' ? reply : { model: provider.model };
    const cost_usd = budget.chargeTokens(usage, model);
    const latency_ms = Math.round(budget.elapsedMs - startedMs);
    const cost = {
      model,
      latency_ms,
      ...(usage && { usage }),
      ...(cost_usd !== undefined && { cost_usd }),
    };
    return { answer: summaryNotes(reply), cost };
  }

  /** Notes that are no shorter than what they replace are useless. */
  #worthwhile(notes: Notes, kept: number): Notes {
    if (typeof notes !== 'string') return notes;
    const earlier = this.#notes === undefined ? 0 : estimatedTokens(notesPart(this.#notes));
    const replaced = this.#gauge.sizes.slice(1, kept).reduce((sum, size) => sum + size, earlier);
    const size = estimatedTokens(notesPart(notes));
    return size < replaced
      ? notes
      : { fault: 'longer', why: `the summary has about ${size} tokens, what it replaces ${replaced}` };
  }
}
