import { describe, expect, test } from '@jest/globals';
import { asFailure, providers } from '../helpers/provider.js';

const { outcomeOf } = providers();

/** An error body as Google's APIs write it. */
function body(code: number, status: string, message: string, details: unknown = []) {
  return { error: { code, message, status, details } };
}

const INVALID_KEY = [
  {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: 'API_KEY_INVALID',
    domain: 'googleapis.com',
  },
];

describe('an HTTP error of the API', () => {
  test.each([
    [400, 'INVALID_ARGUMENT', 'invalid_request', false],
    [400, 'FAILED_PRECONDITION', 'invalid_request', false],
    [401, 'UNAUTHENTICATED', 'auth', false],
    [403, 'PERMISSION_DENIED', 'auth', false],
    [404, 'NOT_FOUND', 'not_found', false],
    [408, 'DEADLINE_EXCEEDED', 'unavailable', true],
    [413, 'INVALID_ARGUMENT', 'invalid_request', false],
    [429, 'RESOURCE_EXHAUSTED', 'quota', true],
    [500, 'INTERNAL', 'unavailable', true],
    [502, 'UNAVAILABLE', 'unavailable', true],
    [503, 'UNAVAILABLE', 'unavailable', true],
    [504, 'DEADLINE_EXCEEDED', 'unavailable', true],
  ] as const)('%i %s is %s, worth a retry: %s', async (status, name, kind, retryable) => {
    const said = 'Something\n  went wrong.';
    const failure = asFailure(await outcomeOf({ status, body: body(status, name, said) }));
    expect(failure).toMatchObject({ class: kind, retryable, httpStatus: status });
    expect(failure.message).toBe(`HTTP ${status} ${name}: Something went wrong.`);
  });

  test('400 with API_KEY_INVALID is about the key, not about the request', async () => {
    const said = 'API key not valid. Please pass a valid API key.';
    const reply = { status: 400, body: body(400, 'INVALID_ARGUMENT', said, INVALID_KEY) };
    const failure = asFailure(await outcomeOf(reply));
    expect(failure).toMatchObject({ class: 'auth', retryable: false, httpStatus: 400 });
    expect(failure.message).toBe(`HTTP 400 INVALID_ARGUMENT: ${said}`);
    expect(failure.hint).toMatch(/key/);
  });

  test('404 hints at the name of the model', async () => {
    const failure = asFailure(
      await outcomeOf({ status: 404, body: body(404, 'NOT_FOUND', 'no such model') }),
    );
    expect(failure.hint).toContain('gemini-test');
  });

  test('that wraps another error body tells the inner one', async () => {
    const inner = JSON.stringify(body(503, 'UNAVAILABLE', 'The model is overloaded.'));
    const failure = asFailure(await outcomeOf({ status: 503, body: body(503, 'Unavailable', inner) }));
    expect(failure.message).toBe('HTTP 503 UNAVAILABLE: The model is overloaded.');
  });

  test('that is a page of a load balancer is told in one short line', async () => {
    const page = `<html>\r\n<head><title>502</title></head>\n${'<p>bad gateway</p>\n'.repeat(5000)}</html>`;
    const failure = asFailure(
      await outcomeOf({ status: 502, body: page, headers: { 'content-type': 'text/html' } }),
    );
    expect(failure).toMatchObject({ class: 'unavailable', httpStatus: 502, retryable: true });
    expect(failure.message).toMatch(/^HTTP 502 Bad Gateway: <html> <head>.{1,400}$/);
  });

  test('without a body is told by its status alone', async () => {
    const failure = asFailure(await outcomeOf({ status: 503, body: '' }));
    expect(failure).toMatchObject({ class: 'unavailable', httpStatus: 503, retryable: true });
    expect(failure.message).toMatch(/^HTTP 503 Service Unavailable[^:\s]*$/);
  });

  test.each([
    [401, 'auth'],
    [500, 'unavailable'],
  ])('%i keeps its meaning when its body is not the JSON that it claims to be', async (status, kind) => {
    const headers = { 'content-type': 'application/json' };
    const failure = asFailure(await outcomeOf({ status, body: '{"error": {"mess', headers }));
    expect(failure).toMatchObject({ class: kind, httpStatus: status });
  });

  test('quotes no control characters of the server', async () => {
    const failure = asFailure(
      await outcomeOf({ status: 500, body: body(500, 'INTERNAL', 'a\u001b[31mred\u001b[0m\u0000b\u0007') }),
    );
    expect(failure.message).toMatch(/^HTTP 500 INTERNAL: [\u0020-\u007e]+$/);
  });

  test.each([
    'null',
    '[]',
    '5',
    '"just text"',
    '{}',
    '{"error":null}',
    '{"error":"text"}',
    '{"error":{"message":7,"status":{}}}',
    '{"error":{"details":{}}}',
    '{"error":{"details":[null]}}',
    '{"error":{"message":"{"}}',
    '[{"error":{"code":400,"message":"an array","status":"INVALID_ARGUMENT"}}]',
  ])('with the odd body %s is a failure and not an exception', async (odd) => {
    const headers = { 'content-type': 'application/json' };
    const failure = asFailure(await outcomeOf({ status: 400, body: odd, headers }));
    expect(failure).toMatchObject({ class: 'invalid_request', httpStatus: 400, retryable: false });
    expect(failure.message).not.toContain('\n');
  });

  test('with a body that never ends is given up on', async () => {
    const endless = { status: 500, body: 'x'.repeat(8 * 1024 * 1024) };
    const failure = asFailure(await outcomeOf(endless));
    expect(failure).toMatchObject({ class: 'unavailable', httpStatus: 500 });
    expect(failure.message.length).toBeLessThan(500);
  });
});

describe('an error inside a stream that began well', () => {
  test.each([
    [429, 'RESOURCE_EXHAUSTED', 'quota', true],
    [503, 'UNAVAILABLE', 'unavailable', true],
    [400, 'INVALID_ARGUMENT', 'invalid_request', false],
  ] as const)('%i %s is %s, and nothing of the answer is kept', async (code, name, kind, retryable) => {
    const candidate = { content: { role: 'model', parts: [{ text: 'half' }] } };
    const events = [{ candidates: [candidate] }, body(code, name, 'not\nnow')];
    const pieces = events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`);
    expect(asFailure(await outcomeOf({ pieces }))).toMatchObject({
      class: kind,
      retryable,
      httpStatus: code,
      message: `HTTP ${code} ${name}: not now`,
    });
  });

  test('counts even after a finish reason', async () => {
    const done = { candidates: [{ content: { parts: [{ text: 'x' }] }, finishReason: 'STOP' }] };
    const raw = [done, body(500, 'INTERNAL', 'oh')].map((e) => `data: ${JSON.stringify(e)}\n\n`).join('');
    expect(asFailure(await outcomeOf({ raw })).httpStatus).toBe(500);
  });

  test('without a stream, as plain JSON under 200, is the same error', async () => {
    const raw = JSON.stringify(body(403, 'PERMISSION_DENIED', 'no'));
    const failure = asFailure(await outcomeOf({ raw, headers: { 'content-type': 'application/json' } }));
    expect(failure).toMatchObject({
      class: 'auth',
      httpStatus: 403,
      message: 'HTTP 403 PERMISSION_DENIED: no',
    });
  });
});
