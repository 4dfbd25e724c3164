import { cutTo, inColumns } from '../../lib/columns.js';
import { formatDuration } from '../../lib/duration.js';
import { formatDollars } from '../../lib/money.js';
import type { Paint } from '../../lib/paint.js';
import { oneLine, revealedLine } from '../../lib/text.js';
import { taskCost, type RunningTask, type Tally } from './tally.js';

export interface Screen {
  readonly columns: number;
  readonly rows: number;
}

/** A bar, the figures and the estimate. */
const FOOT_LINES = 2;
/** Longer ids are cut, even if there is room: what a task does matters more. */
const WIDEST_ID = 60;
const NARROWEST_BAR = 10;

/** The lines of the live table: running tasks as far as the screen has room, then the progress of all. */
export function tableLines(tally: Tally, { columns, rows }: Screen, paint: Paint): string[] {
  // The last column stays free: some terminals wrap as soon as it is written.
  const width = Math.max(20, columns - 1);
  const room = Math.max(1, rows - FOOT_LINES - 2);
  const { running } = tally;
  const shown = running.length > room ? running.slice(0, room - 1) : running;
  const more = running.length - shown.length;
  return [
    ...shown.map((task) => runningLine(task, width, paint)),
    ...(more > 0 ? [paint('dim', cutTo(`  and ${more} more`, width))] : []),
    barLine(tally, width, paint),
    paint('dim', cutTo(figuresLine(tally), width)),
  ];
}

function runningLine({ id, summary, since }: RunningTask, width: number, paint: Paint): string {
  const { turns } = summary.stats(0);
  const [call] = summary.running;
  const cost = formatDollars(taskCost({ id, summary, since }));
  const time = formatDuration(Math.max(0, performance.now() - since));
  const turn = `turn ${turns + (call === undefined ? 1 : 0)}`;
  const tail = ` ${cost.padStart(9)} ${time.padStart(8)}`;
  const name = Math.min(WIDEST_ID, Math.floor((width - tail.length - 11) * 0.45));
  const doing = width - tail.length - 12 - name;
  const what = inColumns(oneLine(call ?? doingOf(summary), 300), doing);
  const line = `  ${inColumns(revealedLine(id, 300), name)} ${turn.padEnd(8)} ${paint('dim', what)}${tail}`;
  return line;
}

function doingOf({ retrying, isConcluding }: RunningTask['summary']): string {
  if (isConcluding) return 'checking the work';
  return retrying ? `trying again (${retrying.class})` : 'waiting for the model';
}

/** `████████░░░ 12/40  10 completed, 2 failed, 4 running, 24 pending` */
function barLine(tally: Tally, width: number, paint: Paint): string {
  const { toRun, completed, failed, running, pending, done } = tally;
  const states = `${completed} completed, ${failed} failed, ${running.length} running, ${pending} pending`;
  const text = cutTo(` ${done}/${toRun}  ${states}`, width - NARROWEST_BAR - 2);
  const room = Math.min(40, width - text.length - 2);
  const good = Math.floor((completed / Math.max(1, toRun)) * room);
  const bad = failed === 0 ? 0 : Math.max(1, Math.floor((failed / Math.max(1, toRun)) * room));
  const rest = '░'.repeat(Math.max(0, room - good - bad));
  return `  ${paint('green', '█'.repeat(good))}${paint('red', '▓'.repeat(bad))}${paint('dim', rest)}${text}`;
}

/** `$1.20 of $5.00 spent, 12.4 tasks/min, 3m 20s so far, about 4m 10s left (14:32)` */
export function figuresLine(tally: Tally): string {
  const { perMinute, leftMs, elapsedMs } = tally;
  const rate = perMinute === undefined ? [] : [`${perMinute.toFixed(perMinute < 10 ? 1 : 0)} tasks/min`];
  const left = leftMs === undefined ? [] : [`about ${formatDuration(leftMs)} left (${clock(leftMs)})`];
  return `  ${[money(tally), ...rate, `${formatDuration(elapsedMs)} so far`, ...left].join(', ')}`;
}

function money(tally: Tally): string {
  const { budget } = tally.init ?? {};
  const spent = (budget?.spent_usd ?? 0) + tally.costUsd;
  if (budget?.cost_usd === undefined) return `${formatDollars(spent)} spent`;
  const enough = tally.affordable(Math.max(0, budget.cost_usd - spent));
  const left = tally.toRun - tally.done;
  const short = enough !== undefined && enough < left ? ` (enough for about ${enough} of ${left})` : '';
  return `${formatDollars(spent)} of ${formatDollars(budget.cost_usd)} spent${short}`;
}

/** The time of day when it ends, if nothing intervenes. */
function clock(leftMs: number): string {
  const end = new Date(Date.now() + leftMs);
  return `${String(end.getHours()).padStart(2, '0')}:${String(end.getMinutes()).padStart(2, '0')}`;
}
