import type { OutcomeError } from './outcome-error.js';
import { EXIT_CODES, type Status } from './status.js';

export { EXIT_CODES, type OutcomeError, type Status };

const FINISHED: readonly Status[] = [
  'completed',
  'denied',
  'unverified',
  'limit',
  'model_error',
  'loop_detected',
];

/** Whether an end is about the work, not about its circumstances: such a run cannot be resumed. */
export function isFinished(status: Status): boolean {
  return FINISHED.includes(status);
}

/** When a run ends with a status, for help and documentation. */
export const MEANINGS: Readonly<Record<Status, string>> = {
  completed: 'the model made no more calls, nothing was denied, and all success conditions are met',
  internal_error: 'a bug in Bosun',
  config_error: 'invalid flags, prompt, files or model name; or the provider does not know the model (404)',
  denied: 'the model finished, but calls were denied',
  approval_required: 'calls wait for `bosun approve`; `bosun resume` then continues',
  unverified: 'a success condition failed; `bosun verify`: chain or schema broken, or no result',
  limit: 'turns, tool calls, tokens, cost, time or context used up (`reason` says which)',
  model_error:
    'no usable answer: `blocked`, `truncated`, `empty_response`, `malformed_function_call`, … in `reason`',
  loop_detected: 'the model repeats itself without progress',
  auth: 'credentials are missing or rejected, or two different ones are set',
  quota_exhausted:
    'daily quota used up, unpaid account, a wait longer than `limits.retry_time`, or 429 until that time is used up',
  provider_unavailable: '5xx errors, no connection, timeouts or invalid responses, after all retries',
  tool_infra_error:
    'tools cannot be relied on: disk full, transcript not writable, or a required sandbox or server is missing',
  cancelled: 'SIGINT 130; SIGTERM, SIGHUP or SIGQUIT 143; stdout closed 141',
};

/** The end of a batch whose tasks have all ended, but not all completed. No run ends like this. */
export const TASKS_FAILED = {
  status: 'tasks_failed',
  exitCode: 13,
  meaning:
    'a batch whose tasks have all ended, not all of them `completed`; or shards are missing; `bosun test`: a case went differently; `bosun batch publish`: a conflict, or a patch that was refused',
} as const;

/** Why a run was cancelled, and each reason's exit code. */
export const CANCEL_CODES = {
  SIGINT: 130,
  SIGTERM: 143,
  SIGHUP: 143,
  SIGQUIT: 143,
  stdout_closed: 141,
} as const;
export type CancelReason = keyof typeof CANCEL_CODES;

export interface Outcome {
  readonly status: Status;
  readonly reason?: string;
  readonly response?: string;
  /** The response as a value, if a schema was given. */
  readonly structured?: unknown;
  readonly error?: OutcomeError;
}

export function exitCodeOf(outcome: Pick<Outcome, 'status' | 'reason'>): number {
  if (outcome.status === 'cancelled' && outcome.reason && Object.hasOwn(CANCEL_CODES, outcome.reason)) {
    return CANCEL_CODES[outcome.reason as CancelReason];
  }
  return EXIT_CODES[outcome.status];
}

/** An end that is not success, with its error. */
export function failure(
  status: Exclude<Status, 'completed'>,
  reason: string,
  message: string,
  extra: Partial<Pick<OutcomeError, 'hint' | 'retryable' | 'http_status'>> = {},
): Outcome {
  return { status, reason, error: { class: status, code: reason, message, ...extra } };
}

/** The end that was requested from outside. */
export function cancelOutcome(reason: unknown): Outcome {
  if (typeof reason === 'object' && reason !== null && 'status' in reason) return reason as Outcome;
  const known = typeof reason === 'string' && Object.hasOwn(CANCEL_CODES, reason);
  const name = known ? (reason as CancelReason) : 'SIGTERM';
  return failure('cancelled', name, name === 'stdout_closed' ? 'stdout was closed' : `stopped by ${name}`);
}
