import { describe, expect, test } from '@jest/globals';
import { resetMs } from '../../src/providers/gemini/quota.js';
import { asFailure, providers } from '../helpers/provider.js';

const { outcomeOf } = providers();

const PLAN =
  'You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.';
const MINUTE = 'GenerateRequestsPerMinutePerProjectPerModel-FreeTier';
const DAY = 'GenerateRequestsPerDayPerProjectPerModel-FreeTier';

const type = (name: string) => ({ '@type': `type.googleapis.com/google.rpc.${name}` });
const violated = (...ids: string[]) => ({
  ...type('QuotaFailure'),
  violations: ids.map((quotaId) => ({
    quotaMetric: 'generativelanguage.googleapis.com/generate_content_free_tier_requests',
    quotaId,
    quotaDimensions: { location: 'global', model: 'gemini-2.5-pro' },
    quotaValue: '10',
  })),
});
const retryIn = (retryDelay: unknown) => ({ ...type('RetryInfo'), retryDelay });
const help = { ...type('Help'), links: [{ description: 'Learn more', url: 'https://example.org' }] };
const info = (reason: string, metadata = {}) => ({
  ...type('ErrorInfo'),
  reason,
  domain: 'googleapis.com',
  metadata,
});

function error(code: number, status: string, message: string, ...details: object[]) {
  return { status: code, body: { error: { code, message, status, details } } };
}
const exhausted = (message: string, ...details: object[]) =>
  error(429, 'RESOURCE_EXHAUSTED', message, ...details);

describe('a quota that is free again in a while is worth a retry', () => {
  test.each([
    ['of a minute', exhausted(PLAN, violated(MINUTE), help), undefined],
    ['of a minute, and when', exhausted(PLAN, violated(MINUTE), help, retryIn('38s')), 38_000],
    ['with parts of a second', exhausted(PLAN, violated(MINUTE), retryIn('41.628591s')), 41_628.591],
    [
      'of tokens in a minute',
      exhausted(PLAN, violated('GenerateContentInputTokensPerModelPerMinute-FreeTier')),
      undefined,
    ],
    ['that only says when', exhausted(PLAN, retryIn('7s')), 7000],
    ['that says when in words', exhausted(`Slow down.\nPlease retry in 12.5s.`), 12_500],
    [
      'whose limit is 10',
      exhausted('* Quota exceeded for metric: x/requests, limit: 10, model: y'),
      undefined,
    ],
    ['without any details', exhausted('Resource has been exhausted (e.g. check quota).'), undefined],
    ['of Vertex', exhausted('Resource exhausted. Please try again later.'), undefined],
    [
      'of Vertex, by its metric',
      exhausted(
        'Quota exceeded for aiplatform.googleapis.com/generate_content_requests_per_minute_per_project. Please submit a quota increase request.',
      ),
      undefined,
    ],
    [
      'of a region',
      exhausted('x', info('RATE_LIMIT_EXCEEDED', { quota_limit: 'RequestsPerMinutePerRegion' })),
      undefined,
    ],
    [
      'that is a matter of capacity',
      exhausted('No capacity available', info('MODEL_CAPACITY_EXHAUSTED')),
      undefined,
    ],
    ['as a 403', error(403, 'PERMISSION_DENIED', 'slow down', info('RATE_LIMIT_EXCEEDED')), undefined],
  ])('%s', async (_, reply, retryAfterMs) => {
    const failure = asFailure(await outcomeOf(reply));
    expect(failure).toMatchObject({ class: 'quota', retryable: true });
    expect(failure.retryAfterMs).toBe(retryAfterMs);
  });
});

describe('a quota that is gone for long is the end', () => {
  test.each([
    ['of a day', exhausted(PLAN, violated(DAY), help), /quota is for a day/],
    [
      'of a day, though the server says to come back soon',
      exhausted(PLAN, violated(DAY), retryIn('38s')),
      /for a day/,
    ],
    ['of a day beside one of a minute', exhausted(PLAN, violated(MINUTE, DAY), retryIn('1s')), /for a day/],
    [
      'of a day, by its metric',
      exhausted(
        'Quota exceeded for aiplatform.googleapis.com/requests_per_day_per_project with base model: x',
      ),
      /for a day/,
    ],
    [
      'of zero',
      exhausted(`${PLAN}\n* Quota exceeded for metric: x/requests, limit: 0, model: y`, retryIn('5s')),
      /no quota/,
    ],
    ['that nobody paid for', exhausted(PLAN), /billing/],
    ['of credits', exhausted('Your prepayment credits are depleted. Please go to AI Studio.'), /billing/],
    ['of money', exhausted('Your project has exceeded its monthly spending cap.'), /billing/],
    [
      'as a 403',
      {
        status: 403,
        body: { error: { code: 403, message: 'x', errors: [{ reason: 'dailyLimitExceeded' }] } },
      },
      /for a day/,
    ],
  ])('%s', async (_, reply, hint) => {
    const failure = asFailure(await outcomeOf(reply));
    expect(failure).toMatchObject({ class: 'quota', retryable: false });
    expect(failure).not.toHaveProperty('retryAfterMs');
    expect(failure.hint).toMatch(hint);
  });
});

describe('what looks like a quota and is none', () => {
  test.each([
    [
      'a service that is not enabled',
      error(403, 'PERMISSION_DENIED', 'x has not been used', info('SERVICE_DISABLED')),
      'auth',
    ],
    [
      'billing that is not enabled',
      error(403, 'PERMISSION_DENIED', 'enable billing', info('BILLING_DISABLED')),
      'auth',
    ],
    [
      'a key that expired',
      error(400, 'INVALID_ARGUMENT', 'API key expired.', info('API_KEY_INVALID')),
      'auth',
    ],
    [
      'a country',
      error(400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.'),
      'invalid_request',
    ],
  ])('%s', async (_, reply, kind) => {
    expect(asFailure(await outcomeOf(reply))).toMatchObject({ class: kind, retryable: false });
  });
});

describe('how long to stay away', () => {
  test('is in the header if the body does not say', async () => {
    const reply = { status: 503, body: 'busy', headers: { 'retry-after': '3' } };
    expect(asFailure(await outcomeOf(reply)).retryAfterMs).toBe(3000);
  });

  test('is what the body says rather than the header', async () => {
    const reply = { ...exhausted('x', retryIn('2s')), headers: { 'retry-after': '30' } };
    expect(asFailure(await outcomeOf(reply)).retryAfterMs).toBe(2000);
  });

  test.each([7, null, {}, 'soon', '-3s', '3', '1e3s', ''])('is not told by the delay %j', async (delay) => {
    expect(asFailure(await outcomeOf(exhausted('x', retryIn(delay))))).not.toHaveProperty('retryAfterMs');
  });
});

describe('an error inside a 200', () => {
  const body = exhausted(PLAN, violated(DAY), retryIn('9s')).body;
  const half = { candidates: [{ content: { parts: [{ text: 'half' }] } }] };
  test.each([
    ['as an event', `data: ${JSON.stringify(body)}\r\n\r\n`],
    ['after half an answer', `data: ${JSON.stringify(half)}\r\n\r\ndata: ${JSON.stringify(body)}\r\n\r\n`],
    ['as plain JSON', JSON.stringify(body)],
    ['as plain JSON of many lines', JSON.stringify(body, null, 2)],
    ['in a list, as the API writes it without SSE', JSON.stringify([body], null, 2)],
    [
      'as JSON of many lines after half an answer',
      `data: ${JSON.stringify(half)}\r\n\r\n${JSON.stringify(body, null, 2)}\n`,
    ],
    [
      'with a word instead of a code',
      `data: ${JSON.stringify({ error: { ...body.error, code: undefined } })}\n\n`,
    ],
    ['with a code that is text', `data: ${JSON.stringify({ error: { ...body.error, code: '429' } })}\n\n`],
  ])('%s is read like any other', async (_, raw) => {
    expect(asFailure(await outcomeOf({ raw }))).toMatchObject({
      class: 'quota',
      retryable: false,
      httpStatus: 429,
    });
  });

  test('that says nothing is the server’s own trouble', async () => {
    expect(asFailure(await outcomeOf({ raw: 'data: {"error":{}}\n\n' }))).toMatchObject({
      class: 'unavailable',
      retryable: true,
    });
  });

  test('is not seen in an answer that speaks of errors', async () => {
    const part = { functionCall: { name: 'f', args: { error: { code: 503 } } } };
    expect(await outcomeOf({ parts: [part] })).toMatchObject({ type: 'reply', content: { parts: [part] } });
  });
});

test('404 at Vertex hints at the location', async () => {
  const { failureOfError: failureOf } = await import('../../src/providers/gemini/failure.js');
  const thrown = Object.assign(new Error('{"error":{"code":404}}'), { status: 404 });
  const hint = (vertex: boolean) =>
    failureOf(thrown, { model: 'gemini-x', vertex, headers: {}, sent: true }).hint;
  expect(hint(true)).toMatch(/gemini-x.*GOOGLE_CLOUD_LOCATION/);
  expect(hint(false)).toMatch(/gemini-x.*retired/);
});

test.each([
  ['2026-11-18T07:59:59Z', 1000],
  ['2026-11-18T08:00:00Z', 24 * 3_600_000],
  ['2026-07-01T06:30:00Z', 30 * 60_000],
])('the quota of a day is free again at midnight in California: at %s in %d ms', (now, ms) => {
  const nothing = { message: '', status: '', code: 429, reasons: [], retryDelayMs: undefined };
  expect(resetMs({ ...nothing, quotas: [DAY] }, new Date(now))).toBe(ms);
  expect(resetMs({ ...nothing, quotas: [DAY], retryDelayMs: 38_000 }, new Date(now))).toBe(ms);
  expect(resetMs({ ...nothing, quotas: [DAY], retryDelayMs: 3_600_000 }, new Date(now))).toBe(3_600_000);
  expect(resetMs({ ...nothing, quotas: [] }, new Date(now))).toBeUndefined();
});
