import { errorMessage } from '../../lib/errors.js';
import { oneLine } from '../../lib/text.js';
import type { ModelFailure } from '../../protocol/provider.js';
import { describeError, isPassing, unavailable } from '../failure.js';

/** The error body of Google's APIs, as far as it can be relied on: not at all. */
interface ApiErrorBody {
  readonly error?: { readonly message?: unknown; readonly status?: unknown; readonly details?: unknown };
}

/** What went wrong with a request, from whatever was thrown. */
export function failureOf(error: unknown, model: string): ModelFailure {
  const status = (error as { status?: unknown }).status;
  if (typeof status === 'number') return apiFailure(status, errorMessage(error), model);
  if (isGarbled(error)) {
    return {
      type: 'failure',
      class: 'protocol',
      retryable: true,
      message: `the answer is not a Gemini API response: ${oneLine(errorMessage(error))}`,
      hint: 'Is there a proxy or a login page in between? Check the base URL.',
    };
  }
  return unavailable(`no answer from the API: ${describeError(error)}`);
}

/** What went wrong before there was a request: finding credentials, or exchanging them for a token. */
export function credentialFailure(error: unknown): ModelFailure {
  const message = `no access token: ${describeError(error)}`;
  const { status, code } = error as { status?: unknown; code?: unknown };
  const passing =
    isPassing(Number(status)) || NETWORK_CODES.has(String(code)) || /within [\d.]+ s$/.test(message);
  if (passing) return unavailable(message);
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

function apiFailure(httpStatus: number, raw: string, model: string): ModelFailure {
  const body = parse(raw);
  const said = typeof body?.error?.message === 'string' ? body.error.message : raw;
  const status = typeof body?.error?.status === 'string' ? ` ${body.error.status}` : '';
  const detail = oneLine(said, 300);
  const message = `HTTP ${httpStatus}${status}${detail ? `: ${detail}` : ''}`;
  const base = { type: 'failure', httpStatus, retryable: false, message } as const;
  if (httpStatus === 401 || httpStatus === 403 || saysBadKey(body)) {
    return { ...base, class: 'auth', hint: 'Check the key or account, and what it may use.' };
  }
  if (httpStatus === 404) {
    const hint = `Check the model name ${model}, and the base URL if you set one.`;
    return { ...base, class: 'not_found', hint };
  }
  if (httpStatus === 429) return { ...base, class: 'quota', retryable: true };
  if (isPassing(httpStatus)) return { ...base, class: 'unavailable', retryable: true };
  return { ...base, class: 'invalid_request' };
}

function saysBadKey(body: ApiErrorBody | undefined): boolean {
  const details: unknown[] = [body?.error?.details ?? []].flat();
  return details.some((detail) => (detail as { reason?: unknown } | null)?.reason === 'API_KEY_INVALID');
}

function parse(raw: string): ApiErrorBody | undefined {
  try {
    // An error inside a stream comes with words of the SDK in front of it.
    const body = JSON.parse(raw.slice(raw.indexOf('{'))) as ApiErrorBody | null;
    const inner = body?.error?.message;
    return typeof inner === 'string' && inner.startsWith('{')
      ? (parse(inner) ?? body ?? undefined)
      : (body ?? undefined);
  } catch {
    return undefined;
  }
}

function isGarbled(error: unknown): boolean {
  const { name } = error as { name?: unknown };
  return name === 'SyntaxError' || /Incomplete JSON segment|parsing stream chunk/.test(errorMessage(error));
}
