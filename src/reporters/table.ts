import { formatDuration } from '../lib/duration.js';
import { formatDollars } from '../lib/money.js';
import { count, neutralizeCommands, oneLine } from '../lib/text.js';
import type { Reporter, ResultEvent, RunStats, ToolStats } from '../protocol/event.js';
import type { Paint } from '../lib/paint.js';
import { denialLines, remedyText } from './denials.js';
import { Summary } from './summary.js';
import { withTool } from './call-title.js';
import { changeNote, lineCounts } from './change-note.js';

/** Shows the table when the run ends, where nobody else does. */
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
  const rows: [string, string][] = [['status', statusCell(result, paint)]];
  if (result.error) rows.push(['error', oneLine(result.error.message, 400)]);
  if (result.error?.hint) rows.push(['what to do', result.error.hint]);
  rows.push(['turns', `${result.stats.turns} in ${formatDuration(result.stats.duration_ms)}`]);
  rows.push(['calls', callsCell(result.stats)]);
  const tokens = tokensCell(result.stats);
  if (tokens) rows.push(['tokens', tokens]);
  const cost = costCell(result.stats, summary.init?.replay !== undefined);
  if (cost) rows.push(['cost', cost]);
  if (summary.changes?.length !== 0) rows.push(['changed', changesCell(summary.changes)]);
  if (result.patch) rows.push(['patch', patchCell(result.patch)]);
  for (const line of denialLines(result.denials, (id) => summary.titleOf(id))) rows.push(['denied', line]);
  for (const { tool_call_id, tool_name, reason } of result.pending)
    rows.push([
      'waiting',
      `${tool_call_id}, ${withTool(summary.titleOf(tool_call_id), tool_name)}: ${oneLine(reason, 300)}`,
    ]);
  for (const warning of result.warnings) rows.push(['warning', oneLine(warning, 300)]);
  if (result.transcript) rows.push(['transcript', result.transcript]);
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(
    ([name, cell]) => `  ${paint('dim', name.padEnd(width))}  ${neutralizeCommands(cell)}\n`,
  );
  const remedy = remedyText(result.denials, summary.init);
  const help = remedy ? `\n${neutralizeCommands(remedy)}`.replaceAll('\n', '\n  ') : '';
  return lines.join('') + (help && `${help}\n`);
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

function changesCell(changes: Summary['changes']): string {
  if (!changes) return 'not known';
  const files = changes.slice(0, SHOWN_FILES).map((change) => {
    const note = changeNote(change);
    return [oneLine(change.path, 200), lineCounts(change), note && `(${note})`].filter(Boolean).join(' ');
  });
  const more = changes.length > SHOWN_FILES ? `, and ${changes.length - SHOWN_FILES} more` : '';
  return `${count(changes.length, 'file')}: ${files.join(', ')}${more}`;
}
