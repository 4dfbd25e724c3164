import { isDeeperThan, MAX_DEPTH } from '../../lib/depth.js';
import { stringOrEmpty } from '../../lib/record.js';

type Fields = Readonly<Record<string, unknown>>;

/** The content of an error body of Google's APIs, which cannot be relied on. */
export interface ApiError {
  readonly message: string;
  /** Google's word for it: `RESOURCE_EXHAUSTED`. */
  readonly status: string;
  /** The HTTP status that it claims, or that its word means. */
  readonly code: number | undefined;
  /** Why, in one word each: `API_KEY_INVALID`, `rateLimitExceeded`. */
  readonly reasons: readonly string[];
  /** The quotas that were hit: `GenerateRequestsPerDayPerProjectPerModel-FreeTier`. */
  readonly quotas: readonly string[];
  /** How long the server wants us to wait. */
  readonly retryDelayMs: number | undefined;
}

const CODES = new Map([
  ['INVALID_ARGUMENT', 400],
  ['FAILED_PRECONDITION', 400],
  ['OUT_OF_RANGE', 400],
  ['UNAUTHENTICATED', 401],
  ['PERMISSION_DENIED', 403],
  ['NOT_FOUND', 404],
  ['RESOURCE_EXHAUSTED', 429],
  ['CANCELLED', 499],
  ['UNAVAILABLE', 503],
  ['DEADLINE_EXCEEDED', 504],
]);

/** The error in a body, even wrapped in a list, in words of the SDK, or in another error's message. */
export function readApiError(raw: string): ApiError | undefined {
  const error = errorFields(raw);
  if (!error) return undefined;
  const message = stringOrEmpty(error['message']);
  const inner = /^\s*[[{]/.test(message) ? readApiError(message) : undefined;
  if (inner) return inner;
  const status = stringOrEmpty(error['status']);
  const details = objectsIn(error['details']);
  const violations = details.flatMap(({ violations: list }) => objectsIn(list));
  return {
    message,
    status,
    code: codeIn(error['code']) ?? CODES.get(status),
    reasons: [...details, ...objectsIn(error['errors'])].flatMap(({ reason }) => stringOrEmpty(reason) || []),
    quotas: [
      ...violations.flatMap(({ quotaId, quotaMetric }) => [quotaId, quotaMetric]),
      ...details.map(({ metadata }) => (metadata as Fields | undefined)?.['quota_limit']),
    ].flatMap((name) => stringOrEmpty(name) || []),
    retryDelayMs: details.map(({ retryDelay }) => secondsIn(retryDelay)).find((ms) => ms !== undefined),
  };
}

/** An error in place of an answer, in the form in which the SDK throws errors of a status. */
export function errorInStream(json: string): Error | undefined {
  const error = readApiError(json);
  return error && Object.assign(new Error(json), { status: error.code ?? 500 });
}

function errorFields(raw: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(raw.slice(Math.max(0, raw.search(/[[{]/))));
    if (isDeeperThan(value, MAX_DEPTH)) return undefined;
    const [body] = [value].flat() as (Fields | null)[];
    const error = body?.['error'];
    return typeof error === 'object' && error !== null ? (error as Fields) : undefined;
  } catch {
    return undefined;
  }
}

function objectsIn(value: unknown): Fields[] {
  return [value ?? []].flat().filter((one): one is Fields => typeof one === 'object' && one !== null);
}

function codeIn(value: unknown): number | undefined {
  const code = Number(value);
  return code >= 400 && code < 600 ? code : undefined;
}

/** `38s`, `0.3s`, as durations are written in JSON. */
function secondsIn(value: unknown): number | undefined {
  return typeof value === 'string' && /^\d+(\.\d+)?s$/.test(value) ? parseFloat(value) * 1000 : undefined;
}
