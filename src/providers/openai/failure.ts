import type { IncomingHttpHeaders } from 'node:http';
import { isDeeperThan, MAX_DEPTH } from '../../lib/depth.js';
import { errorMessage } from '../../lib/errors.js';
import { oneLine } from '../../lib/text.js';
import type { FailureClass, ModelFailure } from '../../protocol/provider.js';
import { isPassing, noAnswer, PROXY_REFUSES } from '../failure.js';
import { retryAfterMs } from '../http/retry-after.js';

type Fields = Readonly<Record<string, unknown>>;

/** The content of an error body, as far as servers agree about it. */
export interface ApiError {
  readonly message: string;
  /** Its `code`, `type` and `status`, those that are words. */
  readonly names: readonly string[];
  /** The HTTP status that it claims. */
  readonly httpStatus: number | undefined;
}

/** Codes for an account that must pay first: waiting does not help. */
const BILLING =
  /^(insufficient_quota|insufficient_balance|billing_\w+|exceeded_current_quota_error|payment_required)$/;
const BAD_KEY = /^(invalid_api_key|authentication_error|API_KEY_INVALID)$/;
const NO_MODEL = /^(model_not_found|invalid_model)$/;

/** The failure of an answer by its HTTP status. */
export function apiFailure(
  httpStatus: number,
  body: string,
  headers: IncomingHttpHeaders,
  model: string,
): ModelFailure {
  const error = readError(parse(body) ?? body);
  const { retryable, ...kind } = classify(httpStatus, error, model);
  const wait = retryable ? retryAfterMs(headers) : undefined;
  return {
    type: 'failure',
    httpStatus,
    retryable,
    message: failureText(`HTTP ${httpStatus}`, error),
    ...kind,
    ...(wait !== undefined && { retryAfterMs: wait }),
  };
}

/** An error in place of an answer, under a status that promised one. */
export function errorInAnswer(error: unknown, model: string): ModelFailure {
  const read = readError(error);
  const { httpStatus } = read;
  const kind = classify(httpStatus ?? impliedStatus(read.names), read, model);
  const head = httpStatus === undefined ? 'an error instead of an answer' : `HTTP ${httpStatus}`;
  const message = failureText(head, read);
  return { type: 'failure', ...kind, message, ...(httpStatus !== undefined && { httpStatus }) };
}

/** The failure of a request, from whatever was thrown. */
export function thrownFailure(error: unknown): ModelFailure {
  if (!(error instanceof SyntaxError)) return noAnswer(error);
  return {
    type: 'failure',
    class: 'protocol',
    retryable: true,
    message: `the answer is not a chat completion: ${oneLine(errorMessage(error))}`,
    hint: 'Check OPENAI_BASE_URL, and whether a proxy or login page answers instead.',
  };
}

/** The error in a body, if a filter rejected the prompt. */
export function filterMessage(httpStatus: number, body: string): string | undefined {
  if (httpStatus !== 400) return undefined;
  const { names, message } = readError(parse(body));
  return names.includes('content_filter') ? oneLine(message, 300) : undefined;
}

interface Kind {
  readonly class: FailureClass;
  readonly retryable: boolean;
  readonly hint?: string;
}

function classify(httpStatus: number, { names }: ApiError, model: string): Kind {
  const named = (pattern: RegExp) => names.some((name) => pattern.test(name));
  if (httpStatus === 402 || named(BILLING)) {
    return { class: 'quota', retryable: false, hint: 'Check the plan and the billing of the account.' };
  }
  if (httpStatus === 401 || httpStatus === 403 || named(BAD_KEY)) {
    return {
      class: 'auth',
      retryable: false,
      hint: 'Check OPENAI_API_KEY, and whether it may use this model.',
    };
  }
  if (httpStatus === 404 || named(NO_MODEL)) {
    const hint = `Check the model name ${model}, and OPENAI_BASE_URL: /chat/completions is appended to it.`;
    return { class: 'not_found', retryable: false, hint };
  }
  if (httpStatus === 429) return { class: 'quota', retryable: true };
  if (httpStatus === 407) return PROXY_REFUSES;
  if (isPassing(httpStatus) || httpStatus === 409) return { class: 'unavailable', retryable: true };
  if (httpStatus < 400) {
    const hint =
      'Check OPENAI_BASE_URL, and whether a login page answers instead. Redirects are not followed.';
    return { class: 'protocol', retryable: true, hint };
  }
  return { class: 'invalid_request', retryable: false };
}

/** For errors that only have a name. One that says nothing is the server's own error. */
function impliedStatus(names: readonly string[]): number {
  const named = (pattern: RegExp) => names.some((name) => pattern.test(name));
  if (named(/rate_limit|too_many_requests/i)) return 429;
  if (named(/^invalid_request|^context_length|BadRequest/)) return 400;
  return named(/permission|forbidden/i) ? 403 : 500;
}

function failureText(status: string, { names: [name], message }: ApiError): string {
  const head = [status, name].filter(Boolean).join(' ');
  const detail = oneLine(message, 300);
  return detail ? `${head}: ${detail}` : head;
}

/** `{error: {…}}`, `{error: "…"}`, `{message: "…"}`, `{detail: …}`, a list of one of these, or anything else. */
function readError(value: unknown): ApiError {
  const body = Array.isArray(value) ? (value as unknown[])[0] : value;
  const inner = (body as Fields | null | undefined)?.['error'] ?? body;
  if (typeof inner === 'string') return { message: inner, names: [], httpStatus: undefined };
  const fields = (typeof inner === 'object' && inner !== null ? inner : {}) as Fields;
  const { code, type, status, details } = fields;
  const reasons = Array.isArray(details) ? details.map((one) => (one as Fields | null)?.['reason']) : [];
  return {
    message: [errorText(fields), upstreamMessage(fields)].filter(Boolean).join(': '),
    names: [code, type, status, ...reasons].filter(isName),
    httpStatus: [code, status].map(Number).find((one) => one >= 400 && one < 600),
  };
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z_]\w*$/.test(value);
}

function errorText({ message, msg, detail }: Fields): string {
  const said = message ?? msg ?? detail ?? '';
  return typeof said === 'string' ? said : JSON.stringify(said);
}

/** What the server behind a router said. */
function upstreamMessage({ metadata }: Fields): string {
  const raw = (metadata as Fields | null | undefined)?.['raw'];
  return typeof raw === 'string' ? raw : '';
}

function parse(body: string): unknown {
  try {
    const value: unknown = JSON.parse(body);
    return isDeeperThan(value, MAX_DEPTH) ? undefined : value;
  } catch {
    return undefined;
  }
}
