import { oneLine } from '../lib/text.js';
import type { Risk } from '../protocol/risk.js';
import type { PendingCall, WrittenAnswer } from '../approvals/pending.js';

/**
 * A waiting call, for the people who decide about it. They see all of it as it is: nothing is cut, lines stay lines, and
 * characters that would hide or move something are escaped.
 */
export function describePending({ request, answer }: PendingCall): string {
  const { tool_call_id, tool_name, display_name, title, risk, reason, options, parameters } = request;
  const { execute_details, file_edit_details, mcp_details, generic_details } = request;
  const lines = [`${oneLine(tool_call_id)}  ${oneLine(title)}`];
  if (title !== tool_name) lines.push(...factRow('tool', toolText(tool_name, display_name)));
  lines.push(...factRow('why', reason), ...factRow('risk', RISK_TEXTS[risk]));
  if (execute_details) {
    lines.push(
      ...factRow('command', execute_details.command),
      ...factRow('in', execute_details.working_directory),
    );
  }
  if (mcp_details)
    lines.push(...factRow('server', mcp_details.server_name), ...factRow('call', mcp_details.tool_name));
  if (generic_details) lines.push(...factRow('what', generic_details.description));
  if (parameters !== undefined) lines.push(...factRow('with', JSON.stringify(parameters)));
  const width = Math.max(...options.map(({ id }) => id.length));
  const choices = options.map(({ id, description }) => `${id.padEnd(width)}  ${description}`);
  lines.push(...factRow('options', choices.join('\n')));
  if (answer) lines.push(...factRow('answered', answerLine(answer)));
  if (file_edit_details) lines.push(...factRow('edit', file_edit_details.formatted_diff.trimEnd()));
  return `${lines.join('\n')}\n\n`;
}

const RISK_TEXTS: Readonly<Record<Risk, string>> = {
  reads: 'reads: it changes nothing',
  writes: 'writes: it changes files',
  network: 'network: it reaches other machines',
  unknown: 'unknown: it may do anything that its program can',
};

function toolText(name: string, displayName: string): string {
  return displayName === name ? oneLine(name) : `${oneLine(name)} (${oneLine(displayName)})`;
}

export function answerLine({ tool_call_id, selected_option_id, expires_at, signed }: WrittenAnswer): string {
  return `${oneLine(tool_call_id)}: ${selected_option_id}, until ${expires_at}${signed ? ', signed' : ''}`;
}

/** A name, followed by the lines of a text. */
function factRow(name: string, text: string): string[] {
  return text.split('\n').map((line, i) => `  ${(i === 0 ? name : '').padEnd(8)} ${visible(line)}`.trimEnd());
}

/** Control characters, and those that change direction or have no width. */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

function visible(line: string): string {
  return line.replaceAll(HIDDEN, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
