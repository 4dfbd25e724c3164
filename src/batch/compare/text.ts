import { columnsOf } from '../../lib/columns.js';
import { count, oneLine } from '../../lib/text.js';
import type { Comparison, Switched } from '../../evidence/compare/compare.js';
import type { LimitCheck } from '../../evidence/compare/gate.js';
import { limitText, rowsOf, scopeText, shown } from './words.js';

/** Longer lists are in the JSON. */
const MOST_TASKS = 20;
const MOST_TOOLS = 8;

/** For people at a terminal. */
export function compareText(comparison: Comparison, checks: readonly LimitCheck[]): string {
  const { a, b, lost, gained } = comparison;
  const lines = [
    `A  ${a.name}  ${count(a.tasks, 'task')}`,
    `B  ${b.name}  ${count(b.tasks, 'task')}`,
    scopeText(comparison),
    '',
    ...table([['', 'A', 'B', '', ''], ...rowsOf(comparison)]),
    ...list('lost', lost),
    ...list('gained', gained),
    ...tools(comparison),
    ...limits(checks),
  ];
  return `${lines.join('\n')}\n`;
}

function list(title: string, switched: readonly Switched[]): string[] {
  if (switched.length === 0) return [];
  const more = switched.length - MOST_TASKS;
  const rows = switched
    .slice(0, MOST_TASKS)
    .map(({ task, a, b, flaky }) => ['', oneLine(task, 100), `${a} -> ${b}`, flaky ? 'flaky' : '']);
  return [
    '',
    `${title}: ${count(switched.length, 'task')}`,
    ...table(rows),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}

function tools({ tools: all }: Comparison): string[] {
  const rows = all
    .filter(({ a, b }) => a !== b)
    .slice(0, MOST_TOOLS)
    .map(({ name, a, b }) => ['', oneLine(name, 100), shown('tool_calls', a), shown('tool_calls', b)]);
  return rows.length > 0 ? ['', 'calls per task', ...table(rows)] : [];
}

function limits(checks: readonly LimitCheck[]): string[] {
  if (checks.length === 0) return [];
  const lines = checks.map((check) => `  ${check.ok ? 'holds ' : 'BROKEN'}  ${limitText(check)}`);
  return ['', 'gate', ...lines];
}

/** Columns as wide as their widest cell. */
function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => columnsOf(row[i] ?? ''))));
  return rows.map((row) =>
    row
      .map((cell, i) => cell + ' '.repeat((widths[i] as number) - columnsOf(cell)))
      .join('  ')
      .trimEnd(),
  );
}
