import { errorMessage } from '../lib/errors.js';
import { oneLine } from '../lib/text.js';
import type { ModelFailure } from '../protocol/provider.js';

/** Nothing is wrong with the request: it may be sent again. */
export function unavailable(message: string): ModelFailure {
  return { type: 'failure', class: 'unavailable', retryable: true, message };
}

/** Proxies that refuse (407) are the network's business, not the request's. */
export function isPassing(httpStatus: number): boolean {
  return httpStatus === 407 || httpStatus === 408 || httpStatus === 429 || httpStatus >= 500;
}

/** Node hides the reasons of a failed connection one level down. */
export function describeError(error: unknown): string {
  const { errors, cause } = error as { errors?: readonly unknown[]; cause?: unknown };
  const inner = errors?.[0] ?? cause;
  const outer = errorMessage(error);
  return oneLine(inner instanceof Error && !outer.includes(inner.message) ? errorMessage(inner) : outer);
}
