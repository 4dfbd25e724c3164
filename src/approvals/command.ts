import { formatDuration } from '../lib/duration.js';
import { compileSchema } from '../lib/schema.js';
import { parseJson } from '../lib/parse-json.js';
import { count, oneLine } from '../lib/text.js';
import { APPROVAL_ANSWER_SCHEMA } from '../protocol/approval-schema.js';
import { answerFault, type ApprovalAnswer, type ConfirmationRequest } from '../protocol/approval.js';
import type { ApproverCommand } from '../protocol/decision.js';
import type { CommandEnd, RunCommand } from '../protocol/process.js';
import { READY } from './ready-validators.js';

export interface ApproverDeps {
  readonly runCommand: RunCommand;
  /** Where it runs. */
  readonly directory: string;
  readonly environment: (approver: ApproverCommand) => Readonly<Record<string, string>>;
  /** Why the program can no longer be trusted. */
  readonly tampered: () => string | undefined;
}

/** No usable answer. `detail` is for the operator of the approver, not for the model. */
export interface NoAnswer {
  readonly fault: string;
  readonly detail?: string;
}

const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
const MAX_COMPLAINT = 2000;

/** Asks a program: the request on its stdin, one answer on its stdout. Anything else is a no. */
export async function askCommand(
  approver: ApproverCommand,
  request: ConfirmationRequest,
  deps: ApproverDeps,
  signal: AbortSignal,
): Promise<ApprovalAnswer | NoAnswer> {
  const tampered = deps.tampered();
  if (tampered !== undefined) return { fault: `the approver was not asked: ${tampered}` };
  const pieces: Uint8Array[] = [];
  let size = 0;
  let complaint = '';
  const tooMuch = new AbortController();
  const end = await deps.runCommand({
    command: approver.command,
    directory: deps.directory,
    environment: deps.environment(approver),
    input: `${JSON.stringify(request)}\n`,
    timeoutMs: approver.timeoutMs,
    idleTimeoutMs: approver.timeoutMs,
    signal: AbortSignal.any([signal, tooMuch.signal]),
    onOutput: (chunk) => {
      size += chunk.length;
      if (size > MAX_ANSWER_BYTES) tooMuch.abort();
      else pieces.push(chunk);
    },
    onErrorOutput: (chunk) => {
      if (complaint.length < MAX_COMPLAINT) complaint += Buffer.from(chunk).toString('utf8');
    },
  });
  const detail = complaint.trim() === '' ? {} : { detail: oneLine(complaint, MAX_COMPLAINT) };
  const broken = tooMuch.signal.aborted ? 'the approver printed too much' : endFault(end, approver);
  if (broken !== undefined) return { fault: broken, ...detail };
  const answer = await readAnswer(Buffer.concat(pieces).toString('utf8'));
  if ('fault' in answer) return { ...answer, ...detail };
  const fault = answerFault(answer, request);
  return fault === undefined ? answer : { fault: `the approver's answer is not valid: ${fault}`, ...detail };
}

function endFault(end: CommandEnd, { timeoutMs }: ApproverCommand): string | undefined {
  if (end.type === 'not_started') return `the approver could not be started: ${end.message}`;
  if (end.stopped === 'timeout' || end.stopped === 'idle_timeout')
    return `the approver did not answer within ${formatDuration(timeoutMs)}`;
  if (end.stopped) return 'the run was stopped while the approver was asked';
  if (end.signal) return `the approver was killed by ${end.signal}`;
  return end.exitCode === 0 ? undefined : `the approver said no (exit code ${end.exitCode})`;
}

async function readAnswer(text: string): Promise<ApprovalAnswer | NoAnswer> {
  if (text.trim() === '') return { fault: 'the approver printed no answer' };
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return { fault: `the approver's answer is not one JSON value (${count(text.length, 'character')})` };
  }
  const [fault] = (await compileSchema(APPROVAL_ANSWER_SCHEMA, READY['answer']))(value);
  return fault === undefined
    ? (value as ApprovalAnswer)
    : { fault: `the approver's answer is not valid: ${fault}` };
}
