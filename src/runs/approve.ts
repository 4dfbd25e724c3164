import type { KeyObject } from 'node:crypto';
import { resolve } from 'node:path';
import { argumentsHash, bindAnswer, policyHash, requestHash } from '../approvals/binding.js';
import { READY } from '../approvals/ready-validators.js';
import { privateKeyIn } from '../lib/ed25519.js';
import { errorMessage } from '../lib/errors.js';
import { nearest } from '../lib/nearest.js';
import { parseJson } from '../lib/parse-json.js';
import type { Redactor } from '../lib/redact/redactor.js';
import type { Variables } from '../lib/redact/secrets.js';
import { readRegularFile } from '../lib/regular-file.js';
import { compileSchema } from '../lib/schema.js';
import { fold } from '../policy/fold.js';
import { APPROVAL_ANSWER_SCHEMA } from '../protocol/approval-schema.js';
import {
  answerFault,
  currentRequest,
  type ApprovalAnswer,
  type ConfirmationRequest,
  type RecordedRequest,
} from '../protocol/approval.js';
import type { ResultEvent, RunEvent, TranscriptLine } from '../protocol/event.js';
import { configProblem, type Problem } from '../protocol/problem.js';
import { hashesOf, type Transcript } from '../protocol/transcript.js';
import { foldTranscript, type RecordedRun } from '../resume/fold.js';
import { TranscriptWriter } from '../transcript/writer.js';
import { redactorFor } from './redaction.js';
import { readSound } from './read-sound.js';
import { leaseExisting } from '../transcript/lease.js';

export type GivenAnswer = ApprovalAnswer;

/** An answer as it was written down. */
export interface WrittenAnswer extends ApprovalAnswer {
  readonly expires_at: string;
  readonly signed: boolean;
}

export interface PendingCall {
  readonly request: ConfirmationRequest;
  /** The last answer, which the run has not acted on yet. */
  readonly answer: WrittenAnswer | undefined;
}

/** The calls of a run that wait for an approval. */
export async function pendingCalls(path: string): Promise<PendingCall[]> {
  return pendingIn(foldTranscript((await readSound(path)).lines));
}

export interface ApproveSettings {
  readonly expiresMs: number;
  readonly variables: Variables;
  readonly key?: KeyObject;
}

/**
 * Writes answers into a transcript, each bound to its call, to the policy and to a time. They are events like others,
 * and the result is written again after them, so that it stays the last line and tells what still waits.
 */
export async function approveCalls(
  transcript: string,
  choose: (pending: readonly PendingCall[]) => readonly GivenAnswer[],
  settings: ApproveSettings,
): Promise<WrittenAnswer[]> {
  const path = resolve(transcript);
  const lease = await leaseExisting(path, { name: 'bosun approve' });
  try {
    const sound = await readSound(path);
    const run = foldTranscript(sound.lines);
    const pending = pendingIn(run);
    if (pending.length === 0) throw problem(`no call of ${path} waits for an approval`);
    const redactor = await redactorFor(settings.variables, fold(recordedPolicy(run)));
    const answers = choose(pending).map((answer) => redactedAnswer(answer, redactor));
    for (const answer of answers) checkAnswer(answer, pending);
    return write(sound, run, answers, settings, () => lease?.check());
  } finally {
    lease?.release();
  }
}

function write(
  { path, lines, end, result }: Transcript,
  run: RecordedRun,
  answers: readonly GivenAnswer[],
  { expiresMs, key }: ApproveSettings,
  mayWrite: () => void,
): WrittenAnswer[] {
  const sessionId = lines[0]?.session_id ?? '';
  const hashes = hashesOf({ lines, end });
  const policySha256 = policyHash(recordedPolicy(run));
  const expires = new Date(Date.now() + expiresMs);
  const writer = new TranscriptWriter(path, sessionId, end, mayWrite);
  const emit = (event: RunEvent) => writer.append(writer.stamp(event));
  for (const answer of answers) {
    const tool_id = answer.tool_call_id;
    const { use, deferred } = run.calls.get(tool_id) ?? {};
    if (!use || !deferred) throw new Error(`the call ${tool_id} does not wait`);
    const argumentsSha256 = argumentsHash(use.tool_name, use.parameters);
    const requestSha256 = requestHash(requestIn(deferred));
    const binding = bindAnswer(
      answer,
      { sessionId, argumentsSha256, requestSha256, policySha256, lines: hashes },
      expires,
      key,
    );
    emit({ type: 'approval_response', tool_id, ...answer, source: 'approve', binding });
  }
  if (result) emit(stillWaiting(result, answers));
  writer.close();
  const facts = { expires_at: expires.toISOString(), signed: key !== undefined };
  return answers.map((answer) => ({ ...answer, ...facts }));
}

function recordedPolicy({ init }: RecordedRun): readonly object[] {
  return init?.effective_policy ?? [];
}

/** What a transcript cannot hold cannot be approved: a placeholder would be written instead of it. */
function redactedAnswer(answer: GivenAnswer, { text }: Redactor): GivenAnswer {
  const { file_details, reason } = answer;
  if (file_details && text(file_details.new_content) !== file_details.new_content)
    throw problem(
      `the content for ${answer.tool_call_id} has a secret in it, and transcripts hold none`,
      'Leave it out, and let the program read it from its environment.',
    );
  return reason === undefined ? answer : { ...answer, reason: text(reason) };
}

/** The result of the run as before, but for the calls that are answered now. */
function stillWaiting(result: TranscriptLine & ResultEvent, answers: readonly GivenAnswer[]): ResultEvent {
  const { v: _v, seq: _seq, timestamp: _time, session_id: _id, prev: _prev, ...before } = result;
  const answered = answers.map(({ tool_call_id }) => tool_call_id);
  const pending = before.pending.filter(({ tool_call_id }) => !answered.includes(tool_call_id));
  return { ...before, pending, ...(pending.length === 0 && { reason: 'answered' }) };
}

/** Deferred calls without a result, in the order of the run. */
function pendingIn({ calls, responses }: RecordedRun): PendingCall[] {
  return [...calls.values()].flatMap(({ deferred, result }) => {
    if (!deferred || result) return [];
    const answer = responses.findLast(
      ({ tool_id, source }) => tool_id === deferred.tool_id && source === 'approve',
    );
    return { request: currentRequest(requestIn(deferred)), answer: answer && written(answer) };
  });
}

function written(event: Extract<RunEvent, { type: 'approval_response' }>): WrittenAnswer {
  const { tool_call_id, selected_option_id, file_details, reason, binding } = event;
  return {
    tool_call_id,
    selected_option_id,
    ...(file_details && { file_details }),
    ...(reason !== undefined && { reason }),
    expires_at: binding?.expires_at ?? '',
    signed: binding?.signature !== undefined,
  };
}

/** What was shown, as it was written down: an answer is bound to that. */
function requestIn(event: Extract<RunEvent, { type: 'approval_request' }>): RecordedRequest {
  const { tool_call_id, tool_name, display_name, title, risk, reason, options, parameters } = event;
  const { execute_details, file_edit_details, mcp_details, generic_details } = event;
  return {
    tool_call_id,
    tool_name,
    ...(display_name !== undefined && { display_name }),
    ...(title !== undefined && { title }),
    ...(risk !== undefined && { risk }),
    reason,
    options,
    ...(execute_details && { execute_details }),
    ...(file_edit_details && { file_edit_details }),
    ...(mcp_details && { mcp_details }),
    ...(generic_details && { generic_details }),
    ...(parameters !== undefined && { parameters }),
  };
}

function checkAnswer(answer: GivenAnswer, pending: readonly PendingCall[]): void {
  const id = answer.tool_call_id;
  const ids = pending.map(({ request }) => request.tool_call_id);
  const asked = pending.find(({ request }) => request.tool_call_id === id);
  if (!asked) {
    const near = nearest(id, ids);
    throw problem(
      `no call ${id} waits${near ? ` (did you mean ${near}?)` : ''}`,
      `There are: ${ids.join(', ')}.`,
    );
  }
  const fault = answerFault(answer, asked.request);
  if (fault) throw problem(`the answer for ${id} cannot be used: ${fault}`);
}

/** Reads what `--answers` takes: one array of answers, each for another call. */
export async function readAnswers(bytes: Buffer, source: string): Promise<GivenAnswer[]> {
  let value: unknown;
  try {
    value = parseJson(bytes.toString('utf8'));
  } catch (error) {
    throw problem(`the answers in ${source} are not JSON: ${errorMessage(error)}`);
  }
  const validate = await compileSchema(
    { type: 'array', minItems: 1, items: APPROVAL_ANSWER_SCHEMA },
    READY['answers'],
  );
  const [fault] = validate(value);
  if (fault)
    throw problem(`the answers in ${source} cannot be used: ${fault}`, 'Give a JSON array of answers.');
  const answers = value as readonly GivenAnswer[];
  const ids = answers.map(({ tool_call_id }) => tool_call_id);
  const twice = ids.find((id, i) => ids.indexOf(id) !== i);
  if (twice !== undefined) throw problem(`${source} has two answers for ${twice}`);
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
    throw problem(
      `${flag} ${file}: ${errorMessage(error)}`,
      'Make one with: openssl genpkey -algorithm ed25519',
    );
  }
}

function problem(message: string, hint?: string): Problem {
  return configProblem('approve', message, hint === undefined ? {} : { hint });
}
