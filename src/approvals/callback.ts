import { formatDuration } from '../lib/duration.js';
import { errorMessage } from '../lib/errors.js';
import { orAbort } from '../lib/or-abort.js';
import { compileSchema } from '../lib/schema.js';
import { APPROVAL_ANSWER_SCHEMA } from '../protocol/approval-schema.js';
import { answerFault, type ApprovalAnswer, type ConfirmationRequest } from '../protocol/approval.js';
import type { Approve } from '../protocol/approve.js';
import type { NoAnswer } from './command.js';
import { READY } from './ready-validators.js';

export interface CallbackApprover {
  readonly approve: Approve;
  readonly timeoutMs: number;
}

const TIMEOUT_MS = 60_000;

export function callbackApprover(approve: Approve, timeoutMs = TIMEOUT_MS): CallbackApprover {
  return { approve, timeoutMs };
}

/** Asks a function, under the same rules as a program: anything but an answer is a no. */
export async function askCallback(
  { approve, timeoutMs }: CallbackApprover,
  request: ConfirmationRequest,
  signal: AbortSignal,
): Promise<ApprovalAnswer | NoAnswer> {
  const time = AbortSignal.timeout(Math.min(timeoutMs, 2 ** 31 - 1));
  const either = AbortSignal.any([signal, time]);
  let value: unknown;
  try {
    // Copied both ways: the request and the answer stay as they were.
    const asked = structuredClone(request);
    const given = await orAbort((async () => approve(asked, { signal: either }))(), either);
    value = JSON.parse(JSON.stringify(given ?? null));
  } catch (error) {
    if (signal.aborted) return { fault: 'the run was stopped while the approver was asked' };
    if (time.aborted) return { fault: `the approver did not answer within ${formatDuration(timeoutMs)}` };
    return { fault: 'the approver failed', detail: errorMessage(error) };
  }
  const [fault] = (await compileSchema(APPROVAL_ANSWER_SCHEMA, READY['answer']))(value);
  const why = fault ?? answerFault(value as ApprovalAnswer, request);
  return why === undefined
    ? (value as ApprovalAnswer)
    : { fault: `the approver's answer is not valid: ${why}` };
}
