import { describe, expect, test } from '@jest/globals';
import { verifyTranscript } from '../../src/transcript/verify.js';
import { sampled } from '../helpers/counts.js';
import { call, text, type Reply, type Script } from '../helpers/gemini-server.mjs';
import { runUnder } from '../helpers/in-process.js';
import { eventsOf, fileIn, ofType, resultOf, runArgs, serverEnv, startCli } from '../helpers/run-cli.js';
import { bosunUnder, place, serve } from '../helpers/served.js';
import { until } from '../helpers/until.js';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const POLICY = 'version: 1\nmode: yolo\n';
const patient = (time: string) => `${POLICY}limits: { retry_time: ${time} }\n`;
const done: Reply = { parts: [text('Done.')] };
const write = call('write_file', { file_path: 'x.txt', content: 'once' });

function error(code: number, status: string, message: string, ...details: object[]): Reply {
  return { status: code, body: { error: { code, message, status, details } } };
}
const retryInfo = (retryDelay: string) => ({
  '@type': 'type.googleapis.com/google.rpc.RetryInfo',
  retryDelay,
});
const quotaFailure = (quotaId: string) => ({
  '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
  violations: [{ quotaId }],
});
/** Short waits, so that tests are short. */
const soon = (code: number, status: string) => error(code, status, 'not now', retryInfo('0.1s'));
const retriesOf = (where: Parameters<typeof eventsOf>[0]) => ofType(eventsOf(where), 'retry');

describe('a failure that passes', () => {
  test('429 with a time to wait is waited for, and the run completes', async () => {
    const script: Script = [error(429, 'RESOURCE_EXHAUSTED', 'slow down', retryInfo('1s')), done];
    const { code, stdout, stderr, server, place: where } = await bosunUnder(POLICY, script);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Done.\n' });
    const [retry, ...more] = retriesOf(where);
    expect(more).toEqual([]);
    expect(retry).toMatchObject({ attempt: 1, class: 'quota', model: 'gemini-test' });
    expect(retry?.wait_ms).toBeGreaterThanOrEqual(1000);
    expect(retry?.wait_ms).toBeLessThanOrEqual(1100);
    const [first, second] = server.requests;
    expect((second?.receivedAt ?? 0) - (first?.answeredAt ?? Infinity)).toBeGreaterThanOrEqual(990);
    expect(second?.raw).toBe(first?.raw);
    expect(stderr).toMatch(/slow down; trying again in 1\.\d s/);
    expect(resultOf(where).stats).toMatchObject({ turns: 1, retries: 1, retry_wait_ms: retry?.wait_ms });
    expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });
  });

  test('the Retry-After header is honoured where the body says nothing', async () => {
    const script: Script = [{ status: 503, body: 'busy', headers: { 'retry-after': '1' } }, done];
    const { code, place: where } = await runUnder(POLICY, script);
    expect(code).toBe(0);
    expect(retriesOf(where)[0]?.wait_ms).toBeGreaterThanOrEqual(1000);
  });

  sampled.each<[string, Reply]>([
    ['408', soon(408, 'DEADLINE_EXCEEDED')],
    ['429', soon(429, 'RESOURCE_EXHAUSTED')],
    [
      '429 of a minute',
      error(429, 'RESOURCE_EXHAUSTED', 'check billing', quotaFailure('RequestsPerMinute'), retryInfo('0.1s')),
    ],
    ['499', soon(499, 'CANCELLED')],
    ['500', soon(500, 'INTERNAL')],
    ['502', { status: 502, body: '<html>Bad Gateway</html>' }],
    ['503', soon(503, 'UNAVAILABLE')],
    ['504', soon(504, 'DEADLINE_EXCEEDED')],
    ['a reset', { reset: true }],
    ['an empty answer', { raw: '' }],
    ['a login page', { raw: '<html>Log in</html>', headers: { 'content-type': 'text/html' } }],
    ['garbage', { raw: 'data: {"candidates": nope}\r\n\r\n' }],
    ['an error inside a 200', { raw: `data: ${JSON.stringify(soon(503, 'UNAVAILABLE').body)}\r\n\r\n` }],
    [
      'an error of many lines inside a 200',
      { raw: JSON.stringify([soon(503, 'UNAVAILABLE').body], null, 2) },
    ],
    ['an answer that is cut in its text', { chunks: [[text('half')], [text('more')]], cutAfterChunks: 1 }],
    ['an answer without an end', { parts: [text('half')], finishReason: null }],
  ])('%s: asked again, and nothing of it is left in the answer', async (_, reply) => {
    const { code, stdout, server, place: where } = await bosunUnder(POLICY, [reply, done]);
    expect({ code, stdout, asked: server.requests.length }).toEqual({ code: 0, stdout: 'Done.\n', asked: 2 });
    expect(retriesOf(where)).toHaveLength(1);
    expect(ofType(eventsOf(where), 'turn')).toHaveLength(1);
    expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });
  });

  test('503 twice is two retries, told one by one', async () => {
    const busy = soon(503, 'UNAVAILABLE');
    const { code, place: where } = await runUnder(POLICY, [busy, busy, done]);
    expect(code).toBe(0);
    expect(retriesOf(where).map(({ attempt, class: kind }) => [attempt, kind])).toEqual([
      [1, 'unavailable'],
      [2, 'unavailable'],
    ]);
  });

  test('a connection that is gone when the second turn begins is a retry without a wait', async () => {
    const look = { parts: [call('list_directory', { path: '.' })] };
    const { code, server, place: where } = await runUnder(POLICY, [look, { reset: true }, done]);
    expect(code).toBe(0);
    expect(server.requests).toHaveLength(3);
    expect(retriesOf(where)).toMatchObject([{ attempt: 1, wait_ms: 0, class: 'unavailable' }]);
  });
});

describe('a call', () => {
  test('in an answer that is cut is not executed; the one that comes whole is, once', async () => {
    const cut: Reply = { chunks: [[text('I write.'), write], [text('…')]], cutAfterChunks: 1 };
    const {
      code,
      stdout,
      server,
      place: where,
    } = await bosunUnder(POLICY, [cut, cut, { parts: [write] }, done]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Done.\n' });
    expect(ofType(eventsOf(where), 'tool_use')).toHaveLength(1);
    expect(fileIn(where, 'x.txt')).toBe('once');
    expect(server.requests[3]?.raw).not.toContain('I write.');
  });

  test('is not executed again because the request with its result fails', async () => {
    const append = call('run_shell_command', { command: 'echo x >> log' });
    const busy = soon(503, 'UNAVAILABLE');
    const script: Script = [{ parts: [append] }, busy, { reset: true }, done];
    const { code, server, place: where } = await runUnder(POLICY, script);
    expect(code).toBe(0);
    expect(fileIn(where, 'log')).toBe('x\n');
    const bodies = server.requests.slice(1).map(({ raw }) => raw);
    expect(new Set(bodies).size).toBe(1);
  });

  test('of a turn that is thrown away costs, and the budget knows', async () => {
    const usage = { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 };
    const cut: Reply = { parts: [text('half')], finishReason: null, usage };
    const { code, place: where } = await bosunUnder(
      POLICY,
      [cut, { parts: [write] }, done],
      ['--max-tokens', '200'],
    );
    const { reason, stats } = resultOf(where);
    expect([code, reason]).toEqual([6, 'tokens']);
    expect(stats).toMatchObject({ total_tokens: 230, retries: 1 });
    expect(Object.values(stats.models).reduce((sum, { total_tokens = 0 }) => sum + total_tokens, 0)).toBe(
      230,
    );
  });
});

test.each<[string, Reply]>([
  ['answers that break', { parts: [text('half')], finishReason: null }],
  ['answers of no use', { parts: [], finishReason: 'MALFORMED_FUNCTION_CALL' }],
])('%s are not asked for again once the tokens are used up', async (_, reply) => {
  const usage = { totalTokenCount: 120 };
  const script = () => ({ ...reply, usage });
  const { code, server, place: where } = await bosunUnder(POLICY, script, ['--max-tokens', '200']);
  expect([code, resultOf(where).reason, server.requests.length]).toEqual([6, 'tokens', 2]);
});

describe('a failure that does not pass', () => {
  const day = error(
    429,
    'RESOURCE_EXHAUSTED',
    'check your billing',
    quotaFailure('RequestsPerDayPerProject'),
    retryInfo('1s'),
  );
  sampled.each<[string, Reply, number, string]>([
    ['a request that is refused', error(400, 'INVALID_ARGUMENT', 'bad'), 7, 'invalid_request'],
    [
      'a country that is not served',
      error(400, 'FAILED_PRECONDITION', 'User location is not supported'),
      7,
      'invalid_request',
    ],
    ['a key that is refused', error(403, 'PERMISSION_DENIED', 'no'), 9, 'refused'],
    [
      'a model that does not exist',
      error(404, 'NOT_FOUND', 'gemini-test is not found'),
      2,
      'model_not_found',
    ],
    ['the quota of a day', day, 10, 'quota'],
    [
      'a quota that is not paid',
      error(429, 'RESOURCE_EXHAUSTED', 'Your prepayment credits are depleted.'),
      10,
      'quota',
    ],
    ['the quota of a day inside a 200', { raw: `data: ${JSON.stringify(day.body)}\n\n` }, 10, 'quota'],
    [
      'a wait that is too long',
      error(429, 'RESOURCE_EXHAUSTED', 'slow down', retryInfo('3600s')),
      10,
      'quota',
    ],
    ['an outage that is too long', error(503, 'UNAVAILABLE', 'down', retryInfo('3600s')), 11, 'unavailable'],
  ])('%s: exit at once after one request', async (_, reply, exit, reason) => {
    const { code, server, place: where } = await runUnder(POLICY, () => reply);
    expect([code, resultOf(where).reason, server.requests.length]).toEqual([exit, reason, 1]);
    expect(retriesOf(where)).toEqual([]);
    expect(resultOf(where).error?.message).toBeTruthy();
  });

  test('a 404 says what to check', async () => {
    const { stderr } = await bosunUnder(POLICY, () => error(404, 'NOT_FOUND', 'no'));
    expect(stderr).toMatch(/Check the model name gemini-test/);
  });

  test.each([
    [429, 'RESOURCE_EXHAUSTED', 10, 'quota_exhausted'],
    [503, 'UNAVAILABLE', 11, 'provider_unavailable'],
  ])('%i for as long as may be retried is exit %i', async (status, name, exit, outcome) => {
    const { code, server, place: where } = await runUnder(patient('0.5s'), () => soon(status, name));
    const { status: ended, error: told } = resultOf(where);
    expect([code, ended]).toEqual([exit, outcome]);
    expect(server.requests.length).toBeGreaterThanOrEqual(2);
    expect(retriesOf(where)).toHaveLength(server.requests.length - 1);
    expect(told).toMatchObject({ retryable: true, http_status: status });
    expect(told?.message).toMatch(new RegExp(`asked ${server.requests.length} times in \\d`));
  });
});

describe('while it waits to ask again', () => {
  const wait = error(503, 'UNAVAILABLE', 'down', retryInfo('60s'));

  test('the time limit ends the run as 6', async () => {
    const { code, place: where } = await bosunUnder(POLICY, () => wait, ['--timeout', '2500ms']);
    expect([code, resultOf(where).reason]).toEqual([6, 'time']);
    expect(retriesOf(where)).toHaveLength(1);
  });

  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('%s ends it at once', async (signal, exit) => {
    const where = place();
    const policy = join(where.root, 'policy.yaml');
    writeFileSync(policy, POLICY);
    const server = await serve(() => wait);
    const args = runArgs(where, ['-p', 'x', '--policy', policy]);
    const { child, done: ended } = startCli(args, { env: serverEnv(server, where) });
    let said = '';
    child.stderr?.on('data', (chunk: string) => (said += chunk));
    await until(() => said.includes('trying again'), 'the wait to begin');
    const stopped = performance.now();
    child.kill(signal);
    expect((await ended).code).toBe(exit);
    expect(performance.now() - stopped).toBeLessThan(3000);
    expect(resultOf(where)).toMatchObject({ status: 'cancelled', reason: signal });
    expect(server.requests).toHaveLength(1);
  });
});

test('the limit stands in init, and of several policies the tightest counts', async () => {
  const where = place();
  const other = join(where.root, 'other.yaml');
  writeFileSync(other, patient('90s'));
  await bosunUnder(patient('20s'), [done], ['--policy', other], where);
  expect(ofType(eventsOf(where), 'init')[0]?.limits.retry_time_ms).toBe(20_000);
});
