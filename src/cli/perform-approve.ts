import type { Command } from 'commander';
import { oneLine } from '../lib/text.js';
import type { ApprovalOption } from '../protocol/approval.js';
import { configProblem } from '../protocol/problem.js';
import {
  approveCalls,
  pendingCalls,
  readAnswers,
  readKey,
  type GivenAnswer,
  type PendingCall,
} from '../runs/approve.js';
import { promptText, readInput, readInputFile } from '../runs/task.js';
import type { Terminal } from './terminal.js';

interface ApproveFlags {
  readonly call?: string;
  readonly all?: boolean;
  readonly option?: ApprovalOption;
  readonly contentFile?: string;
  readonly reason?: string;
  readonly answers?: string;
  readonly expires: number;
  readonly key?: string;
  readonly json?: boolean;
}

const FIRST_BYTE_MS = 30_000;

/** `bosun approve`: shows what waits, or answers it. */
export async function performApprove(path: string, command: Command, terminal: Terminal): Promise<void> {
  const flags = command.opts<ApproveFlags>();
  if (flags.answers === undefined && flags.option === undefined) {
    if (flags.call !== undefined || flags.all || flags.contentFile !== undefined)
      throw configProblem('flags', 'there is no answer', { hint: 'Give one with --option or --answers.' });
    return show(await pendingCalls(path), flags, terminal);
  }
  const key = flags.key === undefined ? undefined : readKey(flags.key);
  const choose = await answersIn(flags);
  const given = await approveCalls(path, choose, { expiresMs: flags.expires, ...(key && { key }) });
  if (flags.json) terminal.stdout(`${JSON.stringify(given, null, 2)}\n`);
  else for (const answer of given) terminal.stdout(`${answerLine(answer)}\n`);
}

/** What the flags say, once it is known which calls wait. */
async function answersIn(flags: ApproveFlags): Promise<(pending: readonly PendingCall[]) => GivenAnswer[]> {
  const { answers, option, call, all, contentFile, reason } = flags;
  if (answers !== undefined) {
    const bytes =
      answers === '-'
        ? await readInput(process.stdin, 'stdin', FIRST_BYTE_MS)
        : await readInputFile(answers, FIRST_BYTE_MS);
    const list = await readAnswers(bytes, answers);
    return () => list;
  }
  const content = contentFile === undefined ? undefined : await contentOf(contentFile);
  return (pending) => {
    const [first, ...others] = pending;
    if (call === undefined && !all && first && others.length > 0)
      throw configProblem('flags', `${pending.length} calls wait, and none is named`, {
        hint: `Give --all, or --call with one of ${pending.map(({ request }) => request.tool_call_id).join(', ')}.`,
      });
    const ids = call === undefined ? pending.map(({ request }) => request.tool_call_id) : [call];
    return ids.map((tool_call_id) => ({
      tool_call_id,
      selected_option_id: option as ApprovalOption,
      ...(content !== undefined && { file_details: { new_content: content } }),
      ...(reason !== undefined && { reason }),
    }));
  };
}

async function contentOf(file: string): Promise<string> {
  const bytes = await readInputFile(file, FIRST_BYTE_MS);
  return bytes.length === 0 ? '' : promptText(bytes, file);
}

function show(pending: readonly PendingCall[], { json }: ApproveFlags, terminal: Terminal): void {
  if (json)
    terminal.stdout(
      `${JSON.stringify(
        pending.map(({ request }) => request),
        null,
        2,
      )}\n`,
    );
  else if (pending.length === 0) terminal.stdout('No call waits for an approval.\n');
  else for (const call of pending) terminal.stdout(describe(call));
}

function describe({ request, answer }: PendingCall): string {
  const { tool_call_id, tool_name, reason, options, execute_details, file_edit_details, mcp_details } =
    request;
  const lines = [`${tool_call_id}  ${tool_name}`, `  why      ${oneLine(reason, 500)}`];
  if (execute_details)
    lines.push(
      `  command  ${oneLine(execute_details.command, 2000)}`,
      `  in       ${oneLine(execute_details.working_directory)}`,
    );
  if (mcp_details)
    lines.push(`  server   ${oneLine(`${mcp_details.server_name}, ${mcp_details.tool_name}`)}`);
  if (request.generic_details) lines.push(`  what     ${oneLine(request.generic_details.description, 2000)}`);
  if (request.parameters !== undefined)
    lines.push(`  with     ${oneLine(JSON.stringify(request.parameters), 2000)}`);
  lines.push(`  options  ${options.join(', ')}`);
  if (answer) lines.push(`  answered ${answerLine(answer)}`);
  const diff = file_edit_details?.formatted_diff
    .trimEnd()
    .split('\n')
    .map((line) => `    ${plainLine(line)}`);
  return `${[...lines, ...(diff ?? [])].join('\n')}\n\n`;
}

/** A line of somebody else's file, without what a terminal would act on. */
function plainLine(line: string): string {
  return line.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\ufffd');
}

function answerLine({
  tool_call_id,
  selected_option_id,
  expires_at,
  signed,
}: GivenAnswer & Partial<ExtraFacts>) {
  const until = expires_at === undefined ? '' : `, until ${expires_at}`;
  return `${tool_call_id}: ${selected_option_id}${until}${signed ? ', signed' : ''}`;
}

interface ExtraFacts {
  readonly expires_at: string;
  readonly signed: boolean;
}
