import { formatDuration } from '../../lib/duration.js';
import { formatDollars } from '../../lib/money.js';
import { count, oneLine, formatNumber } from '../../lib/text.js';
import { textOf, type Part } from '../../protocol/content.js';
import type {
  CompressionEvent,
  ErrorEvent,
  InitEvent,
  MessageEvent,
  NetworkDecisionEvent,
  ResultEvent,
  TodosEvent,
  TranscriptLine,
  TurnEvent,
} from '../../protocol/event.js';
import type { VerificationEvent } from '../../protocol/success.js';
import { progressOf } from '../../protocol/todo.js';
import type { Row } from './row.js';
import type { KeptEvent } from './trim.js';

const TEXT_WIDTH = 220;

function noteAt(seq: number, at: number) {
  return (title: string, text: string, more: Partial<Row> = {}): Row => ({
    seq,
    kind: 'note',
    title,
    text: oneLine(text, TEXT_WIDTH),
    state: 'info',
    start: at,
    end: at,
    ...more,
  });
}

/** The row of an event that is not about a call. `at` is when it was written. */
export function noteRow(line: TranscriptLine, at: number): Row {
  const note = noteAt(line.seq, at);
  switch (line.type) {
    case 'init':
      return note(...startParts(line));
    case 'message':
      return note(...messageParts(line));
    case 'thought':
      return note('Thought', line.content);
    case 'turn':
      return { ...note(`Turn ${line.index + 1}`, ''), ...turnParts(line), start: at - line.latency_ms };
    case 'todos':
      return note('Plan', planText(line));
    case 'retry':
      return note('Retry', line.message, {
        kind: 'wait',
        state: 'warning',
        stateText: `attempt ${line.attempt}`,
        end: at + line.wait_ms,
      });
    case 'compression':
      return { ...note(...compressionParts(line)), start: at - line.latency_ms };
    case 'network_decision':
      return note(...networkParts(line));
    case 'verification':
      return { ...note(...checkParts(line)), start: at - line.duration_ms };
    case 'limit_notice':
      return note('Limit', line.message, { state: 'warning' });
    case 'loop_notice':
      return note('Loop', line.message, { state: 'warning' });
    case 'error':
      return note(...errorParts(line));
    case 'result':
      return note(...endParts(line));
    // An older page may get newer events.
    default:
      line.type satisfies AboutCall;
      return note(...unknownParts(line));
  }
}

/** Events that belong in the row of a call, if it is known. */
type AboutCall =
  | 'tool_use'
  | 'policy_decision'
  | 'approval_request'
  | 'approval_response'
  | 'tool_start'
  | 'tool_state'
  | 'tool_output'
  | 'tool_result';

/** Title, text, and other fields of a row. */
type Parts = [title: string, text: string, more?: Partial<Row>];

function startParts({ resumed_from: from, model, mode }: InitEvent): Parts {
  return [from ? 'Resumed' : 'Started', `${model}, mode ${mode}${from ? `, after ${from.status}` : ''}`];
}

function messageParts({ role, content, repair }: MessageEvent): Parts {
  const title = role === 'user' ? 'To the model' : 'Message';
  return [title, content, repair === undefined ? {} : { state: 'warning', stateText: 'repair' }];
}

function planText({ todos }: TodosEvent): string {
  const { done, all } = progressOf(todos);
  const current = todos.find(({ status }) => status === 'in_progress');
  return `${done} of ${all} done${current ? `, now: ${current.description}` : ''}`;
}

function compressionParts({ used, before_tokens, after_tokens, reason, message }: CompressionEvent): Parts {
  const title = 'History compressed';
  return used
    ? [title, `about ${before_tokens} tokens became ${after_tokens}`]
    : [title, `not used (${reason}): ${message ?? ''}`, { state: 'warning' }];
}

function networkParts({ host, port, decision, reason, count: times }: NetworkDecisionEvent): Parts {
  const often = times > 1 ? ` (${times} times)` : '';
  const state = decision === 'allow' ? 'ok' : 'refused';
  return ['Network', `${host}:${port}${often}: ${reason}`, { decision, state }];
}

function checkParts({ command, condition, message, ok, duration_ms }: VerificationEvent): Parts {
  const figures = formatDuration(duration_ms);
  const what = command ?? condition.replaceAll('_', ' ');
  return ['Check', `${what}: ${message}`, { kind: 'check', state: ok ? 'ok' : 'failed', figures }];
}

function errorParts({ severity, message }: ErrorEvent): Parts {
  return severity === 'error'
    ? ['Error', message, { state: 'failed' }]
    : ['Warning', message, { state: 'warning' }];
}

function endParts({ status, reason, stats, exit_code }: ResultEvent): Parts {
  const why = reason === undefined ? '' : ` (${reason})`;
  const state = status === 'completed' ? 'info' : 'failed';
  return [
    'Ended',
    `${status}${why} after ${count(stats.turns, 'turn')}`,
    { state, stateText: `exit ${exit_code}` },
  ];
}

function turnParts({ usage, cost_usd, latency_ms, finish_reason, content }: TurnEvent): Partial<Row> {
  const facts = [
    finish_reason === 'STOP' ? '' : finish_reason,
    usage?.prompt === undefined ? '' : `${formatNumber(usage.prompt)} in`,
    usage?.output === undefined ? '' : `${formatNumber(usage.output)} out`,
    cost_usd === undefined ? '' : formatDollars(cost_usd),
  ];
  return {
    kind: 'turn',
    text: oneLine(textOf(content?.parts ?? []), TEXT_WIDTH) || callsIn(content?.parts ?? []),
    state: finish_reason === 'STOP' ? 'info' : 'warning',
    stateText: facts.filter(Boolean).join(' · '),
    figures: formatDuration(latency_ms),
  };
}

/** For a turn without text: `calls read_file, 2 × glob`. */
function callsIn(parts: readonly Part[]): string {
  const counts = new Map<string, number>();
  for (const { functionCall } of parts)
    if (functionCall) counts.set(functionCall.name, (counts.get(functionCall.name) ?? 0) + 1);
  const named = [...counts].map(([name, n]) => (n === 1 ? name : `${n} × ${name}`));
  return named.length === 0 ? '' : `calls ${oneLine(named.join(', '), TEXT_WIDTH)}`;
}

/** An event newer than this page: the fields that all events have. */
function unknownParts(line: KeptEvent | TranscriptLine): [string, string] {
  const {
    type,
    v: _v,
    seq: _seq,
    timestamp: _at,
    session_id: _session,
    prev: _prev,
    ...rest
  } = line as Record<string, unknown>;
  const name = String(type).replaceAll('_', ' ');
  return [name.charAt(0).toUpperCase() + name.slice(1), oneLine(JSON.stringify(rest), TEXT_WIDTH)];
}
