import { basename } from 'node:path';
import { byType, type ByType } from '../lib/by-type.js';
import type { Paint } from '../lib/paint.js';
import { withoutPeriod, neutralizeCommands, oneLine, revealedLine } from '../lib/text.js';
import type {
  ApprovalRequestEvent,
  ApprovalResponseEvent,
  InitEvent,
  LimitNoticeEvent,
  PolicyDecisionEvent,
  Reporter,
  ToolResultEvent,
  ToolUseEvent,
  TranscriptLine,
} from '../protocol/event.js';
import type { VerificationEvent } from '../protocol/success.js';
import { factsText, callOutcome } from './call-outcome.js';
import { Heartbeat, HEARTBEAT_MS, LINE_WIDTH, retryLine } from './heartbeat.js';
import { compressionLine, deniedLine } from './progress.js';
import { shortDiff } from './short-diff.js';
import { calledAs } from './call-title.js';

export interface StepsOptions {
  /** Writes one line, or one record that contains the fields. */
  readonly say: (severity: 'info' | 'warn', line: string, fields: object) => void;
  readonly paint: Paint;
  /** Lines are records for programs: a diff is a field of one, not separate lines. */
  readonly records: boolean;
  readonly heartbeatMs?: number;
}

const INDENT = '    ';

/**
 * A line for each thing that happened, for readers of a job's log: calls with their outcome, short diffs,
 * denials, waits, checks; a heartbeat when nothing happens. Others print the answer and the end.
 */
export class StepsReporter implements Reporter {
  readonly #options: StepsOptions;
  readonly #heartbeat: Heartbeat;
  readonly #uses = new Map<string, ToolUseEvent>();
  readonly #decisions = new Map<string, PolicyDecisionEvent>();
  #header: InitEvent | undefined;

  constructor(options: StepsOptions) {
    this.#options = options;
    this.#heartbeat = new Heartbeat((line) => this.#say(line, { event: 'heartbeat' }), {
      intervalMs: options.heartbeatMs ?? HEARTBEAT_MS,
    });
  }

  event(line: TranscriptLine): void {
    this.#heartbeat.event(line);
    byType(this.#shows, line);
  }

  readonly #shows: ByType<TranscriptLine, void> = {
    // Printed before the first step: a run that fails before it has one line, which says why.
    init: (line) => {
      this.#header = line;
    },
    message: ({ phase, role, content, type }) => {
      if (phase === 'interim' && role === 'assistant') this.#say(`model: ${content}`, { event: type });
    },
    tool_use: (line) => {
      this.#uses.set(line.tool_id, line);
    },
    policy_decision: (line) => {
      this.#decisions.set(line.tool_id, line);
    },
    approval_request: (line) => this.#showRequest(line),
    approval_response: (line) => this.#showAnswer(line),
    tool_result: (line) => this.#showResult(line),
    verification: (line) => this.#showVerification(line),
    network_decision: (line) => {
      if (line.decision === 'deny')
        this.#say(deniedLine(line), { event: line.type, host: line.host }, 'warn');
    },
    retry: (line) =>
      this.#say(retryLine(line), { event: line.type, attempt: line.attempt, wait_ms: line.wait_ms }),
    compression: (line) => this.#say(compressionLine(line), { event: line.type }),
    limit_notice: (line) => this.#say(limitLine(line), { event: line.type, limit: line.limit }),
    loop_notice: ({ type, calls, repeats }) => {
      const names = [...new Set(calls.map(({ tool_name }) => tool_name))].join(', ');
      this.#say(`the model repeats itself: ${names}, ${repeats} times`, { event: type }, 'warn');
    },
    // Turns, plans and thoughts are noise here (a plan is the title of its call); warnings are printed at the end.
    turn: () => {},
    thought: () => {},
    todos: () => {},
    tool_start: () => {},
    tool_state: () => {},
    tool_output: () => {},
    error: () => {},
    result: () => {},
  };

  live(text: string): void {
    this.#heartbeat.live(text);
  }

  #showRequest(request: ApprovalRequestEvent): void {
    const { tool_id, tool_name, reason, deferred } = request;
    const how = deferred ? 'waits for bosun approve' : 'needs an approval';
    this.#say(`? ${this.#titleOf(tool_id)} ${how}: ${withoutPeriod(reason)}`, {
      event: request.type,
      tool_id,
      tool_name,
    });
  }

  /** A no is shown with the result of the call. */
  #showAnswer({ type, tool_id, source, selected_option_id }: ApprovalResponseEvent): void {
    if (source === 'grant' || selected_option_id === 'cancel') return;
    const fields = { event: type, tool_id, selected_option_id };
    this.#say(`approved (${selected_option_id}): ${this.#titleOf(tool_id)}`, fields);
  }

  #showResult(result: ToolResultEvent): void {
    const { tool_id, status, duration_ms, process, change } = result;
    const use = this.#uses.get(tool_id);
    const decision = this.#decisions.get(tool_id);
    const { ok, denied, fault, fact } = callOutcome(result, decision);
    const diff = change ? shortDiff(change.diff, LINE_WIDTH - INDENT.length) : [];
    const size = change ? ` +${change.lines_added} -${change.lines_removed}` : '';
    const fields = {
      event: result.type,
      tool_id,
      ...(use && { tool_name: use.tool_name }),
      status,
      duration_ms,
      ...(process && { exit_code: process.exit_code }),
      ...(denied && decision?.rule && { rule: decision.rule.id }),
      ...(diff.length > 0 && { diff: diff.join('\n') }),
    };
    const line = `${this.#titleOf(tool_id)}${size}${fault === undefined ? '' : `: ${fault}`}`;
    this.#mark(ok, line, factsText(fact, duration_ms), fields, denied ? 'warn' : 'info');
    if (!this.#options.records) for (const changed of diff) this.#write('info', this.#painted(changed), {});
    this.#uses.delete(tool_id);
    this.#decisions.delete(tool_id);
  }

  #showVerification({ type, ok, command, condition, message, duration_ms }: VerificationEvent): void {
    const what = command === undefined ? condition.replaceAll('_', ' ') : `verify ${command}`;
    const fields = { event: type, condition, ok, duration_ms };
    // A command that succeeded needs no further words.
    const shown = ok && command !== undefined ? what : `${what}: ${message}`;
    this.#mark(ok, shown, factsText(undefined, duration_ms), fields, ok ? 'info' : 'warn');
  }

  #titleOf(toolId: string): string {
    const use = this.#uses.get(toolId);
    return use ? calledAs(use, 120) : toolId;
  }

  /** The end of the line is never cut off. */
  #mark(ok: boolean, text: string, end: string, fields: object, severity: 'info' | 'warn'): void {
    const { paint } = this.#options;
    const mark = ok ? paint('green', '✓') : paint('red', '✗');
    this.#write(
      severity,
      `${mark} ${plainLine(text, LINE_WIDTH - end.length - 2)}${paint('dim', end)}`,
      fields,
    );
  }

  #say(text: string, fields: object, severity: 'info' | 'warn' = 'info'): void {
    this.#write(severity, plainLine(text, LINE_WIDTH), fields);
  }

  #write(severity: 'info' | 'warn', line: string, fields: object): void {
    const header = this.#header;
    this.#header = undefined;
    if (header) this.#say(headerLine(header), { event: header.type, model: header.model, mode: header.mode });
    this.#heartbeat.heard();
    this.#options.say(severity, line, fields);
  }

  #painted(changed: string): string {
    const { paint } = this.#options;
    const style = { '+': 'green', '-': 'red', '@': 'cyan' }[changed.slice(0, 1)] as 'green' | undefined;
    return `${INDENT}${style ? paint(style, changed) : changed}`;
  }
}

/** One line that a runner takes for plain text. */
function plainLine(text: string, width: number): string {
  return oneLine(neutralizeCommands(revealedLine(text, width)), width);
}

/** `gemini-2.5-pro, mode auto_edit, policy ci-fix.yaml, in /home/runner/work/a/a`. */
function headerLine({ model, mode, policy, cwd, resumed_from, dry_run }: InitEvent): string {
  const files = policy.map(({ file }) => basename(file)).join(', ');
  const parts = [
    `${resumed_from ? 'continues with ' : ''}${model}`,
    `mode ${mode}${dry_run ? ' (dry run)' : ''}`,
    ...(files === '' ? [] : [`${policy.length > 1 ? 'policies' : 'policy'} ${files}`]),
    `in ${cwd}`,
  ];
  return parts.join(', ');
}

function limitLine({ limit, used, value }: LimitNoticeEvent): string {
  const share = Math.round((used / value) * 100);
  return `${share} % of the limit ${limit} ${limit === 'time' ? 'is over' : 'is used'}; the model was told`;
}
