import { errorMessage } from '../../lib/files.js';
import { oneLine } from '../../lib/text.js';
import type { ModelFailure } from '../../protocol/provider.js';

/** The error body of Google's APIs. */
interface ApiErrorBody {
  readonly error?: {
    readonly message?: string;
    readonly status?: string;
    readonly details?: readonly { readonly reason?: string }[];
  };
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
  if (isCredentials(error)) {
    return {
      type: 'failure',
      class: 'auth',
      retryable: false,
      message: `no access token: ${oneLine(errorMessage(error))}`,
      hint: 'Set GOOGLE_APPLICATION_CREDENTIALS, or log in for application default credentials.',
    };
  }
  return unavailable(`no answer from the API: ${describe(error)}`);
}

export function unavailable(message: string): ModelFailure {
  return { type: 'failure', class: 'unavailable', retryable: true, message };
}

function apiFailure(httpStatus: number, raw: string, model: string): ModelFailure {
  const body = parse(raw);
  const said = oneLine(body?.error?.message ?? raw, 300);
  const base = { type: 'failure', httpStatus, retryable: false } as const;
  const message = `HTTP ${httpStatus}${body?.error?.status ? ` ${body.error.status}` : ''}: ${said}`;
  const badKey = body?.error?.details?.some(({ reason }) => reason === 'API_KEY_INVALID');
  if (httpStatus === 401 || httpStatus === 403 || badKey) {
    return { ...base, class: 'auth', message, hint: 'Check the key or account, and what it may use.' };
  }
  if (httpStatus === 404) {
    const hint = `Check the model name ${model}, and the base URL if you set one.`;
    return { ...base, class: 'not_found', message, hint };
  }
  if (httpStatus === 429) return { ...base, class: 'quota', message, retryable: true };
  if (httpStatus === 408 || httpStatus >= 500)
    return { ...base, class: 'unavailable', message, retryable: true };
  return { ...base, class: 'invalid_request', message };
}

function parse(raw: string): ApiErrorBody | undefined {
  try {
    // An error inside a stream comes with words of the SDK in front of it.
    const body = JSON.parse(raw.slice(raw.indexOf('{'))) as ApiErrorBody;
    const inner = body.error?.message;
    return inner?.startsWith('{') ? (parse(inner) ?? body) : body;
  } catch {
    return undefined;
  }
}

function isGarbled(error: unknown): boolean {
  return (
    error instanceof SyntaxError || /Incomplete JSON segment|parsing stream chunk/.test(errorMessage(error))
  );
}

function isCredentials(error: unknown): boolean {
  return /default credentials|access token|invalid_grant|private key|credential/i.test(errorMessage(error));
}

/** Node hides the reasons of a failed connection one level down. */
function describe(error: unknown): string {
  const { errors, cause } = error as { errors?: readonly unknown[]; cause?: unknown };
  const inner = errors?.[0] ?? cause;
  return oneLine(inner === undefined ? errorMessage(error) : errorMessage(inner));
}
