import { isUtf8 } from 'node:buffer';
import type { Command } from 'commander';
import { toJsonLine } from '../lib/jsonl.js';
import type { ApprovalAnswer } from '../protocol/approval.js';
import type { ApprovalOption } from '../protocol/approval-options.js';
import { configProblem } from '../protocol/problem.js';
import { approveCalls, pendingCalls } from '../runs/approve.js';
import { readAnswers, readKey } from '../approvals/given-answers.js';
import type { PendingCall } from '../approvals/pending.js';
import { readInput, readInputFile } from '../runs/input.js';
import { answerLine, describePending } from './describe-pending.js';
import type { ApproveFlags } from './flags/approve.js';
import type { Terminal } from './terminal.js';

const FIRST_BYTE_MS = 30_000;

/** `bosun approve`: shows waiting calls, or answers them. */
export async function performApprove(path: string, command: Command, terminal: Terminal): Promise<void> {
  const flags = command.opts<ApproveFlags>();
  if (flags.answers === undefined && flags.option === undefined) {
    if (flags.call !== undefined || flags.all || flags.contentFile !== undefined)
      throw configProblem('flags', 'no answer is given', { hint: 'Give one with --option or --answers.' });
    return show(await pendingCalls(path), flags, terminal);
  }
  const key = flags.key === undefined ? undefined : readKey(flags.key);
  const choose = await answersIn(flags);
  const given = await approveCalls(path, choose, {
    expiresMs: flags.expires,
    variables: terminal.variables,
    ...(key && { key }),
  });
  if (flags.json) terminal.stdout(`${toJsonLine(given)}\n`);
  else for (const answer of given) terminal.stdout(`${answerLine(answer)}\n`);
}

/** What the flags say, once the waiting calls are known. */
async function answersIn(
  flags: ApproveFlags,
): Promise<(pending: readonly PendingCall[]) => ApprovalAnswer[]> {
  const { answers, option, call, all, contentFile, reason } = flags;
  if (answers !== undefined) {
    const bytes =
      answers === '-'
        ? await readInput(process.stdin, 'stdin', FIRST_BYTE_MS)
        : await readInputFile(answers, FIRST_BYTE_MS);
    const list = await readAnswers(bytes, answers);
    return () => list;
  }
  const content = contentFile === undefined ? undefined : await fileContent(contentFile);
  return (pending) => {
    const [first, ...others] = pending;
    if (call === undefined && !all && first && others.length > 0)
      throw configProblem('flags', `${pending.length} calls wait, but none is named`, {
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

async function fileContent(file: string): Promise<string> {
  const bytes = await readInputFile(file, FIRST_BYTE_MS);
  if (isUtf8(bytes)) return bytes.toString('utf8');
  throw configProblem('file', `the content in ${file} is not UTF-8 text`);
}

function show(pending: readonly PendingCall[], { json }: ApproveFlags, terminal: Terminal): void {
  if (json) terminal.stdout(`${toJsonLine(pending.map(({ request }) => request))}\n`);
  else if (pending.length === 0) terminal.stdout('No call waits for an approval.\n');
  else for (const call of pending) terminal.show(describePending(call));
}
