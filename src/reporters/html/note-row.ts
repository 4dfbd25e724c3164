import { formatDuration } from '../../lib/duration.js';
import { formatDollars } from '../../lib/money.js';
import { count, oneLine } from '../../lib/text.js';
import { textOf, type Part } from '../../protocol/content.js';
import type { TranscriptLine, TurnEvent } from '../../protocol/event.js';
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
    case 'init': {
      const { resumed_from: from, model, mode } = line;
      return note(
        from ? 'Resumed' : 'Started',
        `${model}, mode ${mode}${from ? `, after ${from.status}` : ''}`,
      );
    }
    case 'message':
      return note(line.role === 'user' ? 'To the model' : 'Message', line.content, {
        ...(line.repair !== undefined && { state: 'warning', stateText: 'repair' }),
      });
    case 'thought':
      return note('Thought', line.content);
    case 'turn':
      return { ...note(`Turn ${line.index + 1}`, ''), ...turnParts(line), start: at - line.latency_ms };
    case 'todos': {
      const { done, all } = progressOf(line.todos);
      const current = line.todos.find(({ status }) => status === 'in_progress');
      return note('Plan', `${done} of ${all} done${current ? `, now: ${current.description}` : ''}`);
    }
    case 'retry':
      return note('Retry', line.message, {
        kind: 'wait',
        state: 'warning',
        stateText: `attempt ${line.attempt}`,
        end: at + line.wait_ms,
      });
    case 'compression': {
      const text = line.used
        ? `about ${line.before_tokens} tokens became ${line.after_tokens}`
        : `not used (${line.reason}): ${line.message ?? ''}`;
      return note('History compressed', text, {
        start: at - line.latency_ms,
        state: line.used ? 'info' : 'warning',
      });
    }
    case 'network_decision': {
      const { host, port, decision, reason } = line;
      const often = line.count > 1 ? ` (${line.count} times)` : '';
      return note('Network', `${host}:${port}${often}: ${reason}`, {
        decision,
        state: decision === 'allow' ? 'ok' : 'refused',
      });
    }
    case 'verification':
      return note('Check', `${line.command ?? line.condition.replaceAll('_', ' ')}: ${line.message}`, {
        kind: 'check',
        state: line.ok ? 'ok' : 'failed',
        start: at - line.duration_ms,
        figures: formatDuration(line.duration_ms),
      });
    case 'limit_notice':
      return note('Limit', line.message, { state: 'warning' });
    case 'loop_notice':
      return note('Loop', line.message, { state: 'warning' });
    case 'error':
      return note(line.severity === 'error' ? 'Error' : 'Warning', line.message, {
        state: line.severity === 'error' ? 'failed' : 'warning',
      });
    case 'result': {
      const { status, reason, stats } = line;
      const why = reason === undefined ? '' : ` (${reason})`;
      return note('Ended', `${status}${why} after ${count(stats.turns, 'turn')}`, {
        state: status === 'completed' ? 'info' : 'failed',
        stateText: `exit ${line.exit_code}`,
      });
    }
    default:
      return note(...unknownParts(line));
  }
}

function turnParts({ usage, cost_usd, latency_ms, finish_reason, content }: TurnEvent): Partial<Row> {
  const told = [
    finish_reason === 'STOP' ? '' : finish_reason,
    usage?.prompt === undefined ? '' : `${usage.prompt.toLocaleString('en')} in`,
    usage?.output === undefined ? '' : `${usage.output.toLocaleString('en')} out`,
    cost_usd === undefined ? '' : formatDollars(cost_usd),
  ];
  return {
    kind: 'turn',
    text: oneLine(textOf(content?.parts ?? []), TEXT_WIDTH) || callsIn(content?.parts ?? []),
    state: finish_reason === 'STOP' ? 'info' : 'warning',
    stateText: told.filter(Boolean).join(' · '),
    figures: formatDuration(latency_ms),
  };
}

/** A model that says nothing does something: `calls read_file, 2 × glob`. */
function callsIn(parts: readonly Part[]): string {
  const counts = new Map<string, number>();
  for (const { functionCall } of parts)
    if (functionCall) counts.set(functionCall.name, (counts.get(functionCall.name) ?? 0) + 1);
  const named = [...counts].map(([name, n]) => (n === 1 ? name : `${n} × ${name}`));
  return named.length === 0 ? '' : `calls ${oneLine(named.join(', '), TEXT_WIDTH)}`;
}

/** An event that came into the world after this page: what can be told of any. */
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
