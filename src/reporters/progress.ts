import { byType, type ByType } from '../lib/by-type.js';
import { formatDuration } from '../lib/duration.js';
import { formatDollars } from '../lib/money.js';
import { cleanText, count, neutralizeCommands, oneLine } from '../lib/text.js';
import type {
  CompressionEvent,
  NetworkDecisionEvent,
  PolicyDecisionEvent,
  Reporter,
  ToolResultEvent,
  ToolUseEvent,
  TranscriptLine,
} from '../protocol/event.js';
import type { VerificationEvent } from '../protocol/success.js';
import { progressOf, type Todo } from '../protocol/todo.js';
import type { Paint } from '../lib/paint.js';
import { callOutcome } from './call-outcome.js';
import { paintDiff } from './paint-diff.js';
import { Summary } from './summary.js';
import { resultTable } from './table.js';
import { calledAs } from './call-title.js';

export interface ProgressOptions {
  readonly write: (text: string) => void;
  readonly paint: Paint;
  /** A status line at the bottom that is redrawn: only if the terminal supports it. */
  readonly statusLine: boolean;
}

const CLEAR_LINE = '\r\u001b[2K';
const STATUS_WIDTH = 78;
const REDRAW_MS = 1000;

/** Shows people what happens: a line for each call, diffs, a status line, and finally the result. */
export class ProgressReporter implements Reporter {
  readonly #options: ProgressOptions;
  readonly #summary = new Summary();
  readonly #uses = new Map<string, ToolUseEvent>();
  readonly #decisions = new Map<string, PolicyDecisionEvent>();
  readonly #started = performance.now();
  #statusLine: boolean;
  #timer: NodeJS.Timeout | undefined;
  #live = '';

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#statusLine = options.statusLine;
    if (options.statusLine) this.#timer = setInterval(() => this.#drawStatus(), REDRAW_MS).unref();
  }

  event(line: TranscriptLine): void {
    this.#summary.add(line);
    byType(this.#shows, line);
    this.#drawStatus();
  }

  readonly #shows: ByType<TranscriptLine, void> = {
    init: ({ model, cwd, mode }) => this.#say(`${model} in ${cwd}, mode ${mode}`),
    message: ({ phase, content }) => {
      if (phase === 'interim') this.#say(this.#options.paint('dim', oneLine(content)));
    },
    tool_use: (line) => {
      this.#uses.set(line.tool_id, line);
    },
    policy_decision: (line) => {
      this.#decisions.set(line.tool_id, line);
    },
    approval_request: ({ tool_id, reason }) =>
      this.#warn(`? ${this.#titleOf(tool_id)} needs an approval: ${reason}`),
    tool_result: (line) => this.#showResult(line),
    network_decision: (line) => {
      if (line.decision === 'deny') this.#warn(deniedLine(line));
    },
    verification: (line) => this.#showVerification(line),
    todos: ({ todos }) => {
      if (todos.length > 0) this.#say(`${planOf(todos)}${currentOf(todos)}`);
    },
    compression: (line) => this.#say(this.#options.paint('dim', compressionLine(line))),
    limit_notice: ({ message }) => this.#warn(message),
    loop_notice: ({ message }) => this.#warn(message),
    retry: ({ message }) => this.#warn(message),
    error: ({ message }) => this.#warn(message),
    result: () => {
      clearInterval(this.#timer);
      this.#say(`\n${resultTable(this.#summary, this.#options.paint)}`.trimEnd());
      this.#statusLine = false;
    },
    // The status line shows what is running.
    turn: () => {},
    thought: () => {},
    approval_response: () => {},
    tool_start: () => {},
    tool_state: () => {},
    tool_output: () => {},
  };

  live(text: string): void {
    this.#live = oneLine(text.trimEnd().split('\n').at(-1) ?? '', 40);
    this.#drawStatus();
  }

  #showResult(result: ToolResultEvent): void {
    const { paint } = this.#options;
    const { ok, fault, fact } = callOutcome(result, this.#decisions.get(result.tool_id));
    const title = this.#titleOf(result.tool_id);
    this.#uses.delete(result.tool_id);
    this.#decisions.delete(result.tool_id);
    this.#live = '';
    const mark = ok ? paint('green', '✓') : paint('red', '✗');
    const end = fault === undefined ? fact && ` (${fact})` : `: ${oneLine(fault, 160)}`;
    this.#say(`${mark} ${title}${end ?? ''} ${paint('dim', formatDuration(result.duration_ms))}`);
    if (result.change) this.#say(paintDiff(cleanText(result.change.diff).trimEnd(), paint));
  }

  #titleOf(toolId: string): string {
    const use = this.#uses.get(toolId);
    return use ? calledAs(use, 120) : toolId;
  }

  #showVerification({ ok, command, message, duration_ms }: VerificationEvent): void {
    const { paint } = this.#options;
    this.#live = '';
    const mark = ok ? paint('green', '✓') : paint('red', '✗');
    const what = command === undefined ? '' : `${oneLine(command, 100)}: `;
    this.#say(`${mark} verify ${what}${oneLine(message, 200)} ${paint('dim', formatDuration(duration_ms))}`);
  }

  #warn(text: string): void {
    this.#say(this.#options.paint('yellow', oneLine(text, 300)));
  }

  #say(text: string): void {
    const clear = this.#statusLine ? CLEAR_LINE : '';
    this.#options.write(`${clear}${neutralizeCommands(text)}\n`);
  }

  #drawStatus(): void {
    if (!this.#statusLine) return;
    const elapsed = performance.now() - this.#started;
    const status = statusLine(this.#summary, elapsed, this.#live);
    this.#options.write(`${CLEAR_LINE}${this.#options.paint('dim', status.slice(0, STATUS_WIDTH))}`);
  }
}

/** `turn 3, running: Read src/a.ts, 2 of 5 todos done, 4210 tokens, $0.0141, 12.3 s`. */
export function statusLine(summary: Summary, elapsedMs: number, live = ''): string {
  const { turns, total_tokens, cost_usd } = summary.stats(elapsedMs);
  const running = summary.running;
  const doing =
    running.length > 0
      ? `running: ${running.map((title) => oneLine(title, 60)).join(', ')}`
      : askingOf(summary);
  const plan = summary.todos.length > 0 ? `, ${planOf(summary.todos)}` : '';
  const tokens = total_tokens === undefined ? '' : `, ${count(total_tokens, 'token')}`;
  const cost = cost_usd === undefined ? '' : `, ${formatDollars(cost_usd)}`;
  return `turn ${turns + (running.length > 0 ? 0 : 1)}, ${doing}${plan}${tokens}${cost}, ${formatDuration(elapsedMs)}${live && ` | ${live}`}`;
}

export function compressionLine({
  used,
  before_tokens,
  after_tokens,
  reason,
  message = '',
}: CompressionEvent): string {
  if (!used) return `history not compressed (${reason}): ${oneLine(message, 200)}`;
  return `history compressed: about ${before_tokens} tokens became ${after_tokens}`;
}

export function deniedLine({ host, port, reason, count: times }: NetworkDecisionEvent): string {
  const more = times > 1 ? ` (${times} times)` : '';
  return oneLine(`✗ network ${host}:${port}: ${reason}${more}`, 300);
}

function askingOf({ retrying, isConcluding }: Summary): string {
  if (isConcluding) return 'checking the work';
  if (!retrying) return 'waiting for the model';
  return `trying again (${retrying.class}, attempt ${retrying.attempt + 1})`;
}

function planOf(todos: readonly Todo[]): string {
  const { done, all } = progressOf(todos);
  return `${done} of ${count(all, 'todo')} done`;
}

function currentOf(todos: readonly Todo[]): string {
  const current = todos.find(({ status }) => status === 'in_progress');
  return current ? `, now: ${oneLine(current.description, 100)}` : '';
}
