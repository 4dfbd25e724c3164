import { errorMessage } from '../lib/errors.js';
import { oneLine } from '../lib/text.js';
import type { ModelFailure } from '../protocol/provider.js';

/** Nothing is wrong with the request: it may be sent again. */
export function unavailable(message: string): ModelFailure {
  return { type: 'failure', class: 'unavailable', retryable: true, message };
}

/** What no retry fixes: an untrusted certificate, an invalid address, a proxy that rejects the request. */
const LASTING =
  /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_|ERR_TLS_CERT_|ERR_INVALID_|ERR_UNESCAPED_|ERR_PROXY_)/;

/** The codes of Node, its TLS and its HTTP parser for connection errors. */
const NETWORK =
  /^(E(CONN|NOTFOUND|AI_|TIMEDOUT|PIPE|HOST|NET|PROTO|ADDR|CANCELED)|HPE_|ERR_(SSL|TLS|HTTP|STREAM_PREMATURE|STREAM_DESTROYED|SOCKET)|ABORT_ERR)/;

function isOfConnection(error: unknown): boolean {
  const { code, name, cause, errors = [] } = error as ErrorFacts;
  if (name === 'AbortError') return true;
  if (typeof code === 'string' && (NETWORK.test(code) || LASTING.test(code))) return true;
  return [cause, ...errors].some(
    (inner) => typeof inner === 'object' && inner !== null && isOfConnection(inner),
  );
}

interface ErrorFacts {
  readonly code?: unknown;
  readonly name?: string;
  readonly cause?: unknown;
  readonly errors?: readonly unknown[];
}

/** The failure of a connection. Anything else is a bug of ours, not a provider's answer, and stays one. */
export function noAnswer(error: unknown): ModelFailure {
  if (!isOfConnection(error)) throw error;
  const { stale, code, cause } = error as ConnectionError & { readonly cause?: ConnectionError };
  return {
    ...unavailable(`no answer from the API: ${describeError(error)}`),
    retryable: !LASTING.test(code ?? cause?.code ?? ''),
    ...((stale || cause?.stale) && { atOnce: true }),
  };
}

interface ConnectionError {
  readonly code?: string;
  /** It was an idle connection, and it was gone. */
  readonly stale?: boolean;
}

/** A request that a proxy gave up on (499) may be sent again, too. */
export function isPassing(httpStatus: number): boolean {
  return [408, 429, 499].includes(httpStatus) || httpStatus >= 500;
}

/** HTTP 407. Trying a wrong password again and again may lock an account. */
export const PROXY_REFUSES = {
  class: 'unavailable',
  retryable: false,
  hint: 'The proxy needs credentials: check the user and password in the proxy variable.',
} as const;

/** Node hides the reasons of a failed connection one level down. */
export function describeError(error: unknown): string {
  const { errors, cause } = error as { errors?: readonly unknown[]; cause?: unknown };
  const inner = errors?.[0] ?? cause;
  const outer = errorMessage(error);
  return oneLine(inner instanceof Error && !outer.includes(inner.message) ? errorMessage(inner) : outer);
}
