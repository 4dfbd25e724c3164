import { formatDuration } from '../../lib/duration.js';
import { codeSpan, sentenceOrCode } from '../../lib/markdown.js';
import { formatDollars } from '../../lib/money.js';
import type { ResultEvent, RunStats } from '../../protocol/event.js';
import { callCounts } from '../call-counts.js';
import type { RunRecord } from '../run-record.js';

/** How it ended, in the first lines of a report: outcome, cause and numbers. */
export function reportHead(record: RunRecord): string {
  const { result, task } = record;
  const lines = [result ? outcome(result) : '## ❌ Bosun: no result', ''];
  if (task) lines.push(`Task: ${codeSpan(task, 300)}`, '');
  if (!result) lines.push('The run was killed, or is still running.', '');
  if (result?.error) lines.push(`**Why:** ${sentenceOrCode(result.error.message)}`, '');
  if (result?.error?.hint) lines.push(`**What to do:** ${sentenceOrCode(result.error.hint)}`, '');
  if (result) lines.push(...numbers(result, record.summary.init?.replay !== undefined), '');
  return `${lines.join('\n')}\n`;
}

function outcome({ status, reason, exit_code, dry_run }: ResultEvent): string {
  const mark = status === 'completed' ? '✅' : '❌';
  const why = reason && reason !== status ? ` (${sentenceOrCode(reason, 60)})` : '';
  return `## ${mark} Bosun: ${status}${why}, exit ${exit_code}${dry_run ? ', dry run' : ''}`;
}

function numbers({ stats, denials }: ResultEvent, isReplay: boolean): string[] {
  const cells: [string, string][] = [
    ['turns', `${stats.turns}`],
    ['calls', callsCell(callCounts(stats, denials.length))],
    ['tokens', tokensCell(stats)],
    ['cost', stats.cost_usd === undefined ? '' : formatDollars(stats.cost_usd)],
    ['time', formatDuration(stats.duration_ms)],
    ['files changed', filesCell(stats)],
  ];
  // A recording was paid for when it was made.
  const known = cells.filter(([name, cell]) => cell !== '' && !(isReplay && name === 'cost'));
  const row = (texts: readonly string[]) => `| ${texts.join(' | ')} |`;
  return [row(known.map(([name]) => name)), row(known.map(() => '---')), row(known.map(([, cell]) => cell))];
}

function callsCell({ calls, failed, refused }: ReturnType<typeof callCounts>): string {
  const bad = [failed > 0 && `${failed} failed`, refused > 0 && `${refused} denied`].filter(Boolean);
  return bad.length > 0 ? `${calls} (${bad.join(', ')})` : `${calls}`;
}

function tokensCell({ total_tokens, input_tokens, output_tokens }: RunStats): string {
  if (total_tokens === undefined) return '';
  return `${total_tokens} (${input_tokens ?? '?'} in, ${output_tokens ?? '?'} out)`;
}

function filesCell({ files_changed, lines_added, lines_removed }: RunStats): string {
  if (files_changed === undefined) return 'not known';
  return files_changed === 0 ? '0' : `${files_changed} (+${lines_added} −${lines_removed})`;
}
