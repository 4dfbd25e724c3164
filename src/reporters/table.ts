import { formatDuration } from '../lib/duration.js';
import { formatDollars } from '../lib/money.js';
import { count, neutralizeCommands, oneLine } from '../lib/text.js';
import type { Reporter, ResultEvent, RunStats, ToolStats } from '../protocol/event.js';
import type { Paint } from '../lib/paint.js';
import { denialLines, remedyText } from './denials.js';
import { Summary } from './summary.js';
import { withTool } from './call-title.js';
import { changeNote, lineCounts } from './change-note.js';

/** Shows the table when the run ends, if no other reporter does. */
export function tableReporter(write: (text: string) => void, paint: Paint): Reporter {
  const summary = new Summary();
  return {
    event(line) {
      summary.add(line);
      if (line.type === 'result') write(`\n${resultTable(summary, paint)}`);
    },
  };
}

/** The result of a run as a small table for people. */
export function resultTable(summary: Summary, paint: Paint): string {
  const { result } = summary;
  if (!result) return paint('yellow', 'This run has no result: it was killed, or is still running.\n');
  const rows = tableRows(result, summary, paint).flatMap(([name, cell]) =>
    cell ? [[name, cell] as const] : [],
  );
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(
    ([name, cell]) => `  ${paint('dim', name.padEnd(width))}  ${neutralizeCommands(cell)}\n`,
  );
  const remedy = remedyText(result.denials, summary.init);
  const help = remedy ? `\n${neutralizeCommands(remedy)}`.replaceAll('\n', '\n  ') : '';
  const needs = learntText(result.learnt);
  return lines.join('') + (help && `${help}\n`) + (needs && `${needs}\n`);
}

/** The rules that the run needed, if they were asked for. */
function learntText(lesson: ResultEvent['learnt']): string {
  if (!lesson) return '';
  const rules = lesson.rules === '' ? 'none' : `\n${lesson.rules.trimEnd()}`;
  const text = `\nThis run needs these rules (${lesson.file}): ${rules}`;
  return neutralizeCommands(text).replaceAll('\n', '\n  ');
}

/** A row without a cell is not shown. */
type Row = readonly [string, string | undefined];

function tableRows(result: ResultEvent, summary: Summary, paint: Paint): Row[] {
  const { error, stats, patch, denials, pending, warnings, transcript } = result;
  const titleOf = (id: string) => summary.titleOf(id);
  return [
    ['status', statusCell(result, paint)],
    ['error', error && oneLine(error.message, 400)],
    ['what to do', error?.hint],
    ['turns', `${stats.turns} in ${formatDuration(stats.duration_ms)}`],
    ['calls', callsCell(stats)],
    ['tokens', tokensCell(stats)],
    ['cost', costCell(stats, summary.init?.replay !== undefined)],
    ['changed', changesCell(summary.changes)],
    ['patch', patch && patchCell(patch)],
    ...denialLines(denials, titleOf).map((line): Row => ['denied', line]),
    ...pending.map((call): Row => ['waiting', pendingCell(call, titleOf)]),
    ...warnings.map((warning): Row => ['warning', oneLine(warning, 300)]),
    ['transcript', transcript],
  ];
}

function pendingCell(
  { tool_call_id: id, tool_name, reason }: ResultEvent['pending'][number],
  titleOf: (id: string) => string | undefined,
): string {
  return `${id}, ${withTool(titleOf(id), tool_name)}: ${oneLine(reason, 300)}`;
}

function statusCell({ status, reason, exit_code, dry_run }: ResultEvent, paint: Paint): string {
  const style = status === 'completed' ? 'green' : 'red';
  const detail = reason === undefined ? '' : ` (${reason})`;
  return `${paint(style, status)}${detail}, exit ${exit_code}${dry_run ? ', dry run' : ''}`;
}

function callsCell({ tool_calls, tools }: RunStats): string {
  const cells = Object.entries(tools).map(([name, stats]) => `${name} ${toolCell(stats)}`);
  return tool_calls === 0 ? 'none' : `${tool_calls}: ${cells.join(', ')}`;
}

function toolCell({ calls, error, cancelled }: ToolStats): string {
  const bad = [error > 0 ? `${error} failed` : '', cancelled > 0 ? `${cancelled} cancelled` : ''].filter(
    Boolean,
  );
  return bad.length > 0 ? `${calls} (${bad.join(', ')})` : `${calls}`;
}

function tokensCell(stats: RunStats): string | undefined {
  const { total_tokens, input_tokens, output_tokens, cached, thoughts } = stats;
  if (total_tokens === undefined) return undefined;
  const fromCache = cached ? ` of which ${cached} cached` : '';
  const thought = thoughts ? `, ${thoughts} thoughts` : '';
  return `${total_tokens} (${input_tokens ?? '?'} in${fromCache}, ${output_tokens ?? '?'} out${thought})`;
}

/** A recording is paid for once. */
function costCell({ cost_usd, models }: RunStats, isReplay: boolean): string | undefined {
  if (cost_usd === undefined) return undefined;
  const each = Object.entries(models).flatMap(([model, stats]) =>
    stats.cost_usd === undefined ? [] : [`${model} ${formatDollars(stats.cost_usd)}`],
  );
  const detail = each.length > 1 ? ` (${each.join(', ')})` : '';
  return `${formatDollars(cost_usd)}${detail}${isReplay ? ', when it was recorded' : ''}`;
}

function patchCell({ file, files, bytes, rejected }: NonNullable<ResultEvent['patch']>): string {
  return `${file} (${count(files, 'file')}, ${count(bytes, 'byte')}${rejected ? ', rejected' : ''})`;
}

/** A longer list is in the result. */
const SHOWN_FILES = 20;

function changesCell(changes: Summary['changes']): string | undefined {
  if (!changes) return 'not known';
  if (changes.length === 0) return undefined;
  const files = changes.slice(0, SHOWN_FILES).map((change) => {
    const note = changeNote(change);
    return [oneLine(change.path, 200), lineCounts(change), note && `(${note})`].filter(Boolean).join(' ');
  });
  const more = changes.length > SHOWN_FILES ? `, and ${changes.length - SHOWN_FILES} more` : '';
  return `${count(changes.length, 'file')}: ${files.join(', ')}${more}`;
}
