import {
  CANCEL_CODES,
  cancelOutcome,
  EXIT_CODES,
  failure,
  type CancelReason,
  type Status,
} from '../protocol/outcome.js';
import { Problem } from '../protocol/problem.js';
import { sentence } from '../lib/text.js';
import type { TaskEndEvent } from './journal/event.js';

/** Why nothing new starts. */
export interface Halt {
  /** `stop`: running tasks finish; `pause`: they are cut at their next request; `cancel`: they are cut at once. */
  readonly kind: 'stop' | 'pause' | 'cancel';
  readonly status: Status;
  readonly exitCode: number;
  readonly reason: string;
  readonly message: string;
  readonly resetAt?: Date;
}

const ORDER = ['stop', 'pause', 'cancel'] as const;

/** The weightier of two reasons; the first if they are equal. */
export function strongerHalt(a: Halt | undefined, b: Halt): Halt {
  return a && ORDER.indexOf(a.kind) >= ORDER.indexOf(b.kind) ? a : b;
}

/** What the end of a task means for the others: an unusable configuration or key, or a quota, affects all. */
export function haltBy({ id, status, exit_code, reason, error }: TaskEndEvent): Halt | undefined {
  const what = error?.message ?? status;
  const fullMessage = `${id}: ${error?.hint ? `${sentence(what)} ${error.hint}` : what}`;
  const common = { status, exitCode: exit_code, reason: reason ?? status, message: fullMessage };
  if (status === 'config_error' || status === 'auth') return { kind: 'stop', ...common };
  if (status === 'quota_exhausted') return { kind: 'pause', ...common };
  return undefined;
}

export function limitHalt(limit: 'cost' | 'tokens' | 'time' | 'failed', message: string): Halt {
  const kind = limit === 'time' ? 'cancel' : limit === 'failed' ? 'stop' : 'pause';
  return { kind, status: 'limit', exitCode: EXIT_CODES.limit, reason: limit, message };
}

/** The spending of all starts counts, so repeating the command does not help. */
export function budgetHalt(limit: 'cost' | 'tokens', used: string): Halt {
  const key = limit === 'cost' ? 'limits.cost_usd (--max-cost)' : 'limits.tokens (--max-tokens)';
  return limitHalt(
    limit,
    `the budget of the batch is used up: ${used} over all its starts. To continue, raise ${key}`,
  );
}

/** `cancelHalt` for a batch that has not begun. */
export function cancelProblem(cause: unknown): Problem {
  const { reason = 'SIGTERM', error } = cancelOutcome(cause);
  return new Problem('cancelled', reason, error?.message ?? reason);
}

export function quotaHalt(model: string, resetMs: number | undefined): Halt {
  return {
    kind: 'pause',
    status: 'quota_exhausted',
    exitCode: EXIT_CODES.quota_exhausted,
    reason: 'quota',
    message: `the provider accepts no more requests for ${model}`,
    ...(resetMs !== undefined && { resetAt: new Date(Date.now() + resetMs) }),
  };
}

/** Something outside asks to end. */
export function cancelHalt(reason: unknown): Halt {
  const known = typeof reason === 'string' && Object.hasOwn(CANCEL_CODES, reason);
  const name = known ? (reason as CancelReason) : 'SIGTERM';
  const message = name === 'stdout_closed' ? 'stdout was closed' : `stopped by ${name}`;
  return { kind: 'cancel', status: 'cancelled', exitCode: CANCEL_CODES[name], reason: name, message };
}

/** The batch itself cannot go on. */
export function problemHalt({ status, code, message }: Problem): Halt {
  return { kind: 'cancel', status, exitCode: EXIT_CODES[status], reason: code, message };
}

/** The end of a run that continues later. */
export function pausedOutcome(halt: Halt | undefined) {
  return failure('cancelled', 'batch_paused', `the batch was stopped: ${halt?.message ?? 'it is paused'}`);
}
