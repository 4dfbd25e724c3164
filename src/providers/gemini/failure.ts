import type { IncomingHttpHeaders } from 'node:http';
import { errorMessage } from '../../lib/errors.js';
import { oneLine } from '../../lib/text.js';
import type { ModelFailure } from '../../protocol/provider.js';
import { describeError, isPassing, noAnswer, PROXY_REFUSES, unavailable } from '../failure.js';
import { retryAfterMs } from '../http/retry-after.js';
import { readApiError, type ApiError } from './error-body.js';
import { isAboutQuota, judgeQuota, resetMs } from './quota.js';

/** The request that failed. */
export interface Asked {
  /** Whether it was on its way: before that, no server can have answered. */
  readonly sent: boolean;
  readonly model: string;
  readonly vertex: boolean;
  /** Of the answer, if there was one. */
  readonly headers: IncomingHttpHeaders;
}

/** The failure of a request, from whatever was thrown. */
export function failureOfError(error: unknown, asked: Asked): ModelFailure {
  const status = (error as { status?: unknown }).status;
  if (typeof status === 'number') return apiFailure(status, errorMessage(error), asked);
  if (asked.sent && isGarbled(error)) {
    return {
      type: 'failure',
      class: 'protocol',
      retryable: true,
      message: `the answer is not a Gemini API response: ${oneLine(errorMessage(error))}`,
      hint: 'Check the base URL, and whether a proxy or login page answers instead.',
    };
  }
  return noAnswer(error);
}

/** A failure before there was a request: finding credentials, or exchanging them for a token. */
export function credentialFailure(error: unknown): ModelFailure {
  const message = `no access token: ${describeError(error)}`;
  const { status, code } = error as { status?: unknown; code?: unknown };
  if (isPassing(Number(status)) || NETWORK_CODES.has(String(code))) return unavailable(message);
  const hint = 'Set GOOGLE_APPLICATION_CREDENTIALS, or log in for application default credentials.';
  return { type: 'failure', class: 'auth', retryable: false, message, hint };
}

const NETWORK_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EPIPE',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

const NO_DETAILS = { reasons: [], quotas: [], code: undefined, retryDelayMs: undefined };

function apiFailure(httpStatus: number, raw: string, asked: Asked): ModelFailure {
  const error = readApiError(raw) ?? { ...NO_DETAILS, message: raw, status: '' };
  const kind = classify(httpStatus, error, asked);
  const wait = kind.retryable ? waitIn(error, asked.headers) : undefined;
  const reset = kind.class === 'quota' && !kind.retryable ? resetMs(error, new Date()) : undefined;
  const head = ['HTTP', httpStatus, error.status].filter(Boolean).join(' ');
  const detail = oneLine(error.message, 300);
  return {
    type: 'failure',
    httpStatus,
    message: detail ? `${head}: ${detail}` : head,
    ...kind,
    ...(wait !== undefined && { retryAfterMs: wait }),
    ...(reset !== undefined && { resetMs: reset }),
  };
}

type Kind = Pick<ModelFailure, 'class' | 'retryable' | 'hint'>;

function classify(httpStatus: number, error: ApiError, { model, vertex }: Asked): Kind {
  if (httpStatus === 429 || (httpStatus === 403 && isAboutQuota(error))) {
    return { class: 'quota', ...judgeQuota(error) };
  }
  if (httpStatus === 401 || httpStatus === 403 || error.reasons.includes('API_KEY_INVALID')) {
    return {
      class: 'auth',
      retryable: false,
      hint: 'Check the key or account, and whether it may use this model.',
    };
  }
  if (httpStatus === 404) {
    const place = vertex ? 'that GOOGLE_CLOUD_LOCATION has it,' : 'that it is not retired,';
    const hint = `Check the model name ${model}, ${place} and the base URL if you set one.`;
    return { class: 'not_found', retryable: false, hint };
  }
  if (httpStatus === 407) return PROXY_REFUSES;
  if (isPassing(httpStatus)) return { class: 'unavailable', retryable: true };
  return { class: 'invalid_request', retryable: false };
}

/** How long to wait: by the error itself, by the header, or by the message's text. */
function waitIn({ retryDelayMs, message }: ApiError, headers: IncomingHttpHeaders): number | undefined {
  const [, seconds] = /\bretry in (\d+(?:\.\d+)?)s\b/i.exec(message) ?? [];
  return (
    retryDelayMs ?? retryAfterMs(headers) ?? (seconds === undefined ? undefined : Number(seconds) * 1000)
  );
}

function isGarbled(error: unknown): boolean {
  const { name } = error as { name?: unknown };
  return (
    name === 'SyntaxError' ||
    /Incomplete JSON segment|parsing stream chunk|^\{"error":/.test(errorMessage(error))
  );
}
