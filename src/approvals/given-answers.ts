import type { KeyObject } from 'node:crypto';
import { privateKeyIn } from '../lib/ed25519.js';
import { errorMessage, plainReason } from '../lib/errors.js';
import { nearest } from '../lib/nearest.js';
import { parseJson } from '../lib/parse-json.js';
import type { Redactor } from '../lib/redact/redactor.js';
import { readRegularFile } from '../lib/regular-file.js';
import { compileSchema } from '../lib/schema.js';
import { APPROVAL_ANSWER_SCHEMA } from '../protocol/approval-schema.js';
import { answerFault, type ApprovalAnswer } from '../protocol/approval.js';
import { configProblem, type Problem } from '../protocol/problem.js';
import type { PendingCall } from './pending.js';
import { READY } from './ready-validators.js';

/** Reads the value of `--answers`: one array of answers, each for a different call. */
export async function readAnswers(bytes: Buffer, source: string): Promise<ApprovalAnswer[]> {
  let value: unknown;
  try {
    value = parseJson(bytes.toString('utf8'));
  } catch (error) {
    throw approveProblem(`the answers in ${source} are not JSON: ${errorMessage(error)}`);
  }
  const validate = await compileSchema(
    { type: 'array', minItems: 1, items: APPROVAL_ANSWER_SCHEMA },
    READY['answers'],
  );
  const [fault] = validate(value);
  if (fault)
    throw approveProblem(
      `the answers in ${source} cannot be used: ${fault}`,
      'Give a JSON array of answers.',
    );
  const answers = value as readonly ApprovalAnswer[];
  const ids = answers.map(({ tool_call_id }) => tool_call_id);
  const twice = ids.find((id, i) => ids.indexOf(id) !== i);
  if (twice !== undefined) throw approveProblem(`${source} has two answers for ${twice}`);
  return answers.map(({ tool_call_id, selected_option_id, file_details, reason }) => ({
    tool_call_id,
    selected_option_id,
    ...(file_details && { file_details: { new_content: file_details.new_content } }),
    ...(reason !== undefined && { reason }),
  }));
}

export function readKey(file: string, flag = '--key'): KeyObject {
  try {
    return privateKeyIn(readRegularFile(file, 16_384).bytes);
  } catch (error) {
    throw approveProblem(
      `${flag} ${file}: ${plainReason(error)}`,
      'Create one with: openssl genpkey -algorithm ed25519',
    );
  }
}

/** What a transcript cannot hold cannot be approved: a placeholder would be written instead. */
export function redactedAnswer(answer: ApprovalAnswer, { text }: Redactor): ApprovalAnswer {
  const { file_details, reason } = answer;
  if (file_details && text(file_details.new_content) !== file_details.new_content)
    throw approveProblem(
      `the content for ${answer.tool_call_id} contains a secret, and transcripts must not`,
      'Leave the secret out, and let the program read it from its environment.',
    );
  return reason === undefined ? answer : { ...answer, reason: text(reason) };
}

/** Throws a Problem if it answers no pending call, or not what was asked. */
export function checkAnswer(answer: ApprovalAnswer, pending: readonly PendingCall[]): void {
  const id = answer.tool_call_id;
  const ids = pending.map(({ request }) => request.tool_call_id);
  const asked = pending.find(({ request }) => request.tool_call_id === id);
  if (!asked) {
    const near = nearest(id, ids);
    throw approveProblem(
      `no call ${id} waits${near ? ` (did you mean ${near}?)` : ''}`,
      `There are: ${ids.join(', ')}.`,
    );
  }
  const fault = answerFault(answer, asked.request);
  if (fault) throw approveProblem(`the answer for ${id} cannot be used: ${fault}`);
}

export function approveProblem(message: string, hint?: string): Problem {
  return configProblem('approve', message, hint === undefined ? {} : { hint });
}
