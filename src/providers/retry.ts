import { formatDuration } from '../lib/duration.js';
import { pause } from '../lib/pause.js';
import type { RetryEvent } from '../protocol/event.js';
import type { GroundedReply, ModelFailure, ModelReply, Provider } from '../protocol/provider.js';
import type { Usage } from '../protocol/usage.js';

export interface RetrySettings {
  /** How long a request may keep failing, from its first failure on. Every request has this long. */
  readonly retryTimeMs: number;
  /** The most tries, if another model can be asked then. */
  readonly maxTries?: number;
  /** The longest first wait; each next one may be twice as long. */
  readonly firstWaitMs?: number | undefined;
  /** Charges what a failed request cost, and says whether another one may be paid for. */
  readonly charge: (usage: Usage | undefined, model: string) => Charge;
  readonly onRetry: (retry: Omit<RetryEvent, 'type'>) => void;
  /** Milliseconds of the run: its waits for other runs in between do not count. */
  readonly now?: () => number;
  /** A gate before the provider makes requests wait for a quota, including those of other runs. */
  readonly leavesWaiting?: boolean;
}

export interface Charge {
  readonly affordable: boolean;
  /** Absent if the usage or the price is not known. */
  readonly cost_usd?: number;
}

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 60_000;
/** Short: a tool that looks something up, or the model, has other ways. */
const LOOK_UP_MS = 10_000;
/** Random addition to a wait that the server asks for, so that clients do not all come back at once. */
const SPREAD = 0.1;

/** Retries while that may help and there is time. Any answer of a model is final. */
export function withRetries(provider: Provider, settings: RetrySettings): Provider {
  const { retryTimeMs, firstWaitMs, charge, onRetry, leavesWaiting = false, maxTries = Infinity } = settings;
  const { now = () => performance.now() } = settings;

  async function persist<R extends Answer>(
    ask: () => Promise<R | ModelFailure>,
    signal: AbortSignal,
    patienceMs = retryTimeMs,
  ): Promise<R | ModelFailure> {
    let firstFailure: number | undefined;
    for (let attempt = 1; ; attempt++) {
      const outcome = await ask();
      if (outcome.type !== 'failure') return outcome;
      const { affordable, cost_usd } = charge(outcome.usage, provider.model);
      const isOver = !outcome.retryable || !affordable || attempt >= maxTries;
      if (isOver || signal.aborted) return outcome;

      firstFailure ??= now();
      const spentMs = now() - firstFailure;
      const leftMs = patienceMs - spentMs;
      if (leftMs <= 0 || (outcome.retryAfterMs ?? 0) > leftMs)
        return givenUp(outcome, attempt, spentMs, leftMs);

      const isElsewhere = leavesWaiting && outcome.class === 'quota';
      const wantedMs = isElsewhere ? 0 : waitFor(outcome, attempt, Math.random(), firstWaitMs);
      const waitMs = Math.round(Math.min(leftMs, wantedMs));
      const { model } = provider;
      onRetry({ attempt, wait_ms: waitMs, model, ...retried(outcome, waitMs, cost_usd) });
      await pause(waitMs, signal);
      if (signal.aborted) return outcome;
    }
  }

  const { ground } = provider;
  return {
    ...provider,
    send: (request, signal) => persist(() => provider.send(request, signal), signal),
    ...(ground && {
      ground: (request, signal) =>
        persist(() => ground(request, signal), signal, Math.min(retryTimeMs, LOOK_UP_MS)),
    }),
  };
}

/** The event for a failure after which a request is retried. */
function retried({ class: kind, message, usage }: ModelFailure, waitMs: number, costUsd: number | undefined) {
  return {
    class: kind,
    message: `${message}; trying again ${waitMs === 0 ? 'at once' : `in ${formatDuration(waitMs)}`}`,
    ...(usage && { usage }),
    ...(costUsd !== undefined && { cost_usd: costUsd }),
  };
}

type Answer = ModelReply | GroundedReply;

/**
 * How long to wait after a failure, in milliseconds: exponential with full jitter, and never less than the server asks
 * for. `random` is from 0 up to, not including, 1.
 */
export function waitFor(
  { retryAfterMs = 0, atOnce }: Pick<ModelFailure, 'retryAfterMs' | 'atOnce'>,
  attempt: number,
  random: number,
  firstWaitMs = FIRST_WAIT_MS,
): number {
  if (atOnce && attempt === 1) return 0;
  const backoff = random * Math.min(LONGEST_WAIT_MS, firstWaitMs * 2 ** (attempt - 1));
  return Math.max(backoff, retryAfterMs * (1 + SPREAD * random));
}

function givenUp(failure: ModelFailure, attempts: number, spentMs: number, leftMs: number): ModelFailure {
  const { message, hint, retryAfterMs = 0 } = failure;
  const left = Math.max(0, leftMs);
  const tried = attempts > 1 ? `asked ${attempts} times in ${formatDuration(spentMs)}` : '';
  const tooLong = `the server asks for ${formatDuration(retryAfterMs)}, limits.retry_time leaves ${formatDuration(left)}`;
  const why = [tried, retryAfterMs > left ? tooLong : ''].filter(Boolean).join('; ');
  return {
    ...failure,
    message: why ? `${message} (${why})` : message,
    hint: hint ?? 'Try again later, or give it more time with limits.retry_time of the policy.',
  };
}
