import { boolean, count, object, oneOf, string, type TypeOf } from './shape.js';

/** How a run ended. Each status has one exit code, and only `completed` has 0. */
export const EXIT_CODES = {
  completed: 0,
  internal_error: 1,
  config_error: 2,
  denied: 3,
  approval_required: 4,
  unverified: 5,
  limit: 6,
  model_error: 7,
  loop_detected: 8,
  auth: 9,
  quota_exhausted: 10,
  provider_unavailable: 11,
  tool_infra_error: 12,
  cancelled: 143,
} as const;
export type Status = keyof typeof EXIT_CODES;
export const STATUSES = Object.keys(EXIT_CODES) as readonly Status[];

const FINISHED: readonly Status[] = [
  'completed',
  'denied',
  'unverified',
  'limit',
  'model_error',
  'loop_detected',
];

/** Whether an end says something about the work, not about its circumstances: such a run does not go on. */
export function isFinished(status: Status): boolean {
  return FINISHED.includes(status);
}

/** When a run ends with a status, for help and documentation. */
export const MEANINGS: Readonly<Record<Status, string>> = {
  completed: 'no calls left, nothing was denied, and all success conditions are met',
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

/** How a batch ends whose tasks have all ended, not all of them completed. No run ends so. */
export const TASKS_FAILED = {
  status: 'tasks_failed',
  exitCode: 13,
  meaning: 'a batch whose tasks have all ended, not all of them `completed`; or shards are missing',
} as const;

/** Why a run was cancelled, and the exit code each reason has. */
export const CANCEL_CODES = {
  SIGINT: 130,
  SIGTERM: 143,
  SIGHUP: 143,
  SIGQUIT: 143,
  stdout_closed: 141,
} as const;
export type CancelReason = keyof typeof CANCEL_CODES;

/** What went wrong, for machines (`class`, `code`) and for people (`message`, `hint`). */
export const OUTCOME_ERROR = object({
  class: oneOf(STATUSES),
  code: string,
  message: string,
  'hint?': string,
  'retryable?': boolean,
  'http_status?': count,
});
export type OutcomeError = TypeOf<typeof OUTCOME_ERROR>;

export interface Outcome {
  readonly status: Status;
  readonly reason?: string;
  readonly response?: string;
  /** The response as a value, where its shape was asked for. */
  readonly structured?: unknown;
  readonly error?: OutcomeError;
}

export function exitCodeOf(outcome: Pick<Outcome, 'status' | 'reason'>): number {
  if (outcome.status === 'cancelled' && outcome.reason && outcome.reason in CANCEL_CODES) {
    return CANCEL_CODES[outcome.reason as CancelReason];
  }
  return EXIT_CODES[outcome.status];
}

/** An end that is not success, with its error told once. */
export function failure(
  status: Exclude<Status, 'completed'>,
  reason: string,
  message: string,
  extra: Partial<Pick<OutcomeError, 'hint' | 'retryable' | 'http_status'>> = {},
): Outcome {
  return { status, reason, error: { class: status, code: reason, message, ...extra } };
}

/** The end that somebody outside asked for. */
export function cancelOutcome(reason: unknown): Outcome {
  if (typeof reason === 'object' && reason !== null && 'status' in reason) return reason as Outcome;
  const known = typeof reason === 'string' && reason in CANCEL_CODES;
  const name = known ? (reason as CancelReason) : 'SIGTERM';
  return failure('cancelled', name, name === 'stdout_closed' ? 'stdout was closed' : `stopped by ${name}`);
}
