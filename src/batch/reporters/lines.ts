import { formatDuration } from '../../lib/duration.js';
import { formatDollars } from '../../lib/money.js';
import { count, oneLine, revealedLine, sentence } from '../../lib/text.js';
import type { BatchNoticeEvent, GateEvent, TaskEndEvent } from '../journal/event.js';
import type { BatchState } from './story.js';

const WIDTH = 300;

/** One line about a task that has ended, or was interrupted. */
export function taskLine(end: TaskEndEvent): string {
  const { id, status, reason, error, run } = end;
  const name = `${revealedLine(id, 100)}${run === undefined ? '' : ` run ${run}`}`;
  const head = `${wordFor(end).padEnd(9)}  ${name}`;
  if (status === 'completed') return `${head}  ${costs(end)}`;
  const kind = reason && reason !== status ? `${status} (${reason})` : status;
  const why = error?.message ? `: ${oneLine(error.message, WIDTH)}` : '';
  return `${head}  ${kind}${why}  ${costs(end)}`;
}

function wordFor({ status, ended }: TaskEndEvent): string {
  if (!ended) return 'pending';
  if (status === 'approval_required') return 'waits';
  return status === 'completed' ? 'completed' : 'failed';
}

function costs({ turns, cost_usd, duration_ms }: TaskEndEvent): string {
  const cost = cost_usd === null ? '' : `${formatDollars(cost_usd)}, `;
  return `(${count(turns, 'turn')}, ${cost}${formatDuration(duration_ms)})`;
}

/** A summary of a batch that is over, in lines. */
export function stateLines(result: BatchState): string[] {
  const { tasks, cost_usd, requests, rejected, duration_ms, waited_ms } = result;
  const skipped = tasks.skipped > 0 ? ` (${tasks.skipped} before)` : '';
  const states = `${tasks.completed} completed${skipped}, ${tasks.failed} failed, ${tasks.pending} pending`;
  const flaky = result.stability?.flaky ? `, ${result.stability.flaky} flaky` : '';
  const facts = [
    ...(cost_usd === null ? [] : [formatDollars(cost_usd)]),
    `${count(requests, 'request')}${rejected > 0 ? `, ${rejected} rejected` : ''}`,
    formatDuration(duration_ms),
    ...(waited_ms >= 1000 ? [`${formatDuration(waited_ms)} waited at the gate`] : []),
  ];
  return [
    `${count(tasks.total, 'task')}: ${states}${flaky}; ${facts.join(', ')}`,
    ...(result.exit_code === 0 || result.message === '' ? [] : [endLine(result)]),
    ...(result.continue === null ? [] : [`continue with: ${result.continue}`]),
  ];
}

/** `tasks_failed: 2 of 10 tasks failed.` */
export function endLine({
  status,
  message,
  reset_at,
}: Pick<BatchState, 'status' | 'message' | 'reset_at'>): string {
  const reset = reset_at === null ? '' : ` It resets at ${reset_at}.`;
  return oneLine(`${status}: ${sentence(message)}${reset}`, 1000);
}

/** What happened at the gate, or around a task, if people should know. */
export function newsLine(line: GateEvent | BatchNoticeEvent): string | undefined {
  if (line.type === 'batch_notice')
    return line.task === undefined ? line.message : `${revealedLine(line.task, 100)}: ${line.message}`;
  if (line.kind !== 'rejected') return undefined;
  return `${line.message}; all wait ${((line.wait_ms ?? 0) / 1000).toFixed(1)} s`;
}
