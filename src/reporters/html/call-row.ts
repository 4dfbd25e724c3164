import { formatDuration } from '../../lib/duration.js';
import { oneLine } from '../../lib/text.js';
import type { PolicyDecisionEvent, ToolResultEvent, ToolUseEvent } from '../../protocol/event.js';
import { calledAs, keyArgument } from '../call-title.js';
import type { Row, RowState } from './row.js';

const TEXT_WIDTH = 220;
const NOTE_WIDTH = 300;

/** The row of a call of which only the request is known. */
export function callRow(use: ToolUseEvent & { readonly seq: number }, at: number): Row {
  return {
    seq: use.seq,
    kind: 'call',
    title: use.title ? calledAs(use, TEXT_WIDTH) : use.tool_name,
    text: use.title ? use.tool_name : oldText(use),
    tool: use.tool_name,
    state: 'unfinished',
    figures: '',
    start: at,
    end: at,
  };
}

/** From before calls had titles. */
function oldText(use: ToolUseEvent): string {
  return keyArgument(use, TEXT_WIDTH) || oneLine(JSON.stringify(use.parameters) ?? '', TEXT_WIDTH);
}

/** If a title already names the file, the tool is shown instead. */
function changedIn({ title, tool = '' }: Row, path: string): string {
  return title.includes(path) ? tool : path;
}

export function decideRow(row: Row, { decision, reason }: PolicyDecisionEvent): void {
  row.decision = decision;
  if (decision !== 'allow') row.note = oneLine(reason, NOTE_WIDTH);
}

export function finishRow(row: Row, result: ToolResultEvent, at: number): void {
  const { error, process, duration_ms, change } = result;
  row.end = at;
  row.start = Math.max(0, at - duration_ms);
  row.state = rowState(result);
  row.figures = formatDuration(duration_ms);
  if (row.state === 'exit') row.stateText = processEnd(process);
  if (row.state === 'refused') return;
  if (error) row.note = oneLine(error.message, NOTE_WIDTH);
  else delete row.note;
  if (change) row.text = `${changedIn(row, change.path)} +${change.lines_added} -${change.lines_removed}`;
}

function rowState({ status, error, process, suppressed }: ToolResultEvent): RowState {
  if (error?.type === 'policy_denied' || error?.type === 'approval_denied') return 'refused';
  if (status === 'error') return 'failed';
  if (status === 'cancelled') return 'cancelled';
  if (suppressed) return 'suppressed';
  return process && process.exit_code !== 0 ? 'exit' : 'ok';
}

function processEnd(process: ToolResultEvent['process']): string {
  return process?.signal ? process.signal : `exit ${process?.exit_code}`;
}
