import type { KeyObject } from 'node:crypto';
import { resolve } from 'node:path';
import { policyHash } from '../policy/policy-hash.js';
import { approveProblem, checkAnswer, redactedAnswer } from '../approvals/given-answers.js';
import {
  answerEvents,
  pendingIn,
  stillWaiting,
  type PendingCall,
  type WrittenAnswer,
} from '../approvals/pending.js';
import type { Variables } from '../lib/redact/secrets.js';
import { fold } from '../policy/fold.js';
import type { ApprovalAnswer } from '../protocol/approval.js';
import { hashesOf, type Transcript } from '../protocol/transcript.js';
import { foldTranscript, type RecordedRun } from '../resume/fold.js';
import { leaseExisting } from '../transcript/lease.js';
import { TranscriptWriter } from '../transcript/writer.js';
import { redactorFor } from './redaction.js';
import { readChecked } from './read-checked.js';

/** The calls of a run that wait for approval. */
export async function pendingCalls(path: string): Promise<PendingCall[]> {
  return pendingIn(foldTranscript((await readChecked(path)).lines));
}

export interface ApproveSettings {
  readonly expiresMs: number;
  readonly variables: Variables;
  readonly key?: KeyObject;
}

/**
 * Writes answers into a transcript, each bound to its call, to the policy and to a time. They are ordinary events;
 * the result is written again after them, so that it stays the last line and says which calls still wait.
 */
export async function approveCalls(
  transcript: string,
  choose: (pending: readonly PendingCall[]) => readonly ApprovalAnswer[],
  settings: ApproveSettings,
): Promise<WrittenAnswer[]> {
  const path = resolve(transcript);
  const lease = await leaseExisting(path, { name: 'bosun approve' });
  try {
    const checked = await readChecked(path);
    const run = foldTranscript(checked.lines);
    const pending = pendingIn(run);
    if (pending.length === 0) throw approveProblem(`no call of ${path} waits for an approval`);
    const redactor = await redactorFor(settings.variables, fold(recordedPolicy(run)));
    const answers = choose(pending).map((answer) => redactedAnswer(answer, redactor));
    for (const answer of answers) checkAnswer(answer, pending);
    return writeAnswers(checked, run, answers, settings, () => lease?.check());
  } finally {
    lease?.release();
  }
}

function writeAnswers(
  { path, lines, end, result }: Transcript,
  run: RecordedRun,
  answers: readonly ApprovalAnswer[],
  { expiresMs, key }: ApproveSettings,
  mayWrite: () => void,
): WrittenAnswer[] {
  const sessionId = lines[0]?.session_id ?? '';
  const expires = new Date(Date.now() + expiresMs);
  const bound = { sessionId, policySha256: policyHash(recordedPolicy(run)), lines: hashesOf({ lines, end }) };
  const events = answerEvents(answers, run, { ...bound, expires, key });
  const writer = new TranscriptWriter(path, sessionId, end, mayWrite);
  const again = result ? [stillWaiting(result, answers)] : [];
  for (const event of [...events, ...again]) writer.append(writer.stamp(event));
  writer.close();
  const facts = { expires_at: expires.toISOString(), signed: key !== undefined };
  return answers.map((answer) => ({ ...answer, ...facts }));
}

function recordedPolicy({ init }: RecordedRun): readonly object[] {
  return init?.effective_policy ?? [];
}
