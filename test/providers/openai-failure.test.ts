import { describe, expect, test } from '@jest/globals';
import { Problem } from '../../src/protocol/problem.js';
import { retryAfterMs } from '../../src/providers/http/retry-after.js';
import { openAiAccess } from '../../src/providers/openai/access.js';
import { KEY, openAiProviders } from '../helpers/openai-provider.js';
import { streamOf } from '../helpers/openai-server.mjs';
import { asFailure, asReply, HELLO, send } from '../helpers/provider.js';

const { open, serve, serveRaw, outcomeOf } = openAiProviders();

/** An error body as OpenAI writes it. */
const body = (message: string, code: string | null = null, type: string | null = null) => ({
  error: { message, type, param: null, code },
});

describe('an HTTP error', () => {
  test.each([
    [400, 'invalid_request', false],
    [401, 'auth', false],
    [402, 'quota', false],
    [403, 'auth', false],
    [404, 'not_found', false],
    [405, 'invalid_request', false],
    [408, 'unavailable', true],
    [409, 'unavailable', true],
    [413, 'invalid_request', false],
    [422, 'invalid_request', false],
    [429, 'quota', true],
    [500, 'unavailable', true],
    [502, 'unavailable', true],
    [503, 'unavailable', true],
    [529, 'unavailable', true],
  ] as const)('%i is %s, worth a retry: %s', async (status, kind, retryable) => {
    const reply = { status, body: body('Something\n  went wrong.', 'some_code') };
    const failure = asFailure(await outcomeOf(reply));
    expect(failure).toMatchObject({ class: kind, retryable, httpStatus: status });
    expect(failure.message).toBe(`HTTP ${status} some_code: Something went wrong.`);
  });

  test.each([
    [429, body('You exceeded your current quota.', 'insufficient_quota', 'insufficient_quota'), 'quota'],
    [429, body('…', null, 'exceeded_current_quota_error'), 'quota'],
    [403, body('…', 'billing_not_active'), 'quota'],
    [400, body('…', 'invalid_api_key'), 'auth'],
    [
      400,
      [{ error: { code: 400, status: 'INVALID_ARGUMENT', details: [{ reason: 'API_KEY_INVALID' }] } }],
      'auth',
    ],
    [400, body('…', 'model_not_found'), 'not_found'],
    [400, body('too long', 'context_length_exceeded'), 'invalid_request'],
  ])('%i %j is %s by its name, and not worth a retry', async (status, said, kind) => {
    expect(asFailure(await outcomeOf({ status, body: said }))).toMatchObject({
      class: kind,
      retryable: false,
    });
  });

  test('404 hints at the name of the model and the address', async () => {
    const failure = asFailure(await outcomeOf({ status: 404, body: body('no such model') }));
    expect(failure.hint).toMatch(/some-model.*OPENAI_BASE_URL/);
  });

  test.each<[string, object | string, string]>([
    ['a string for an error', { error: 'model "x" not found' }, 'HTTP 400: model "x" not found'],
    [
      'a message on top',
      { object: 'error', message: 'bad', type: 'BadRequestError', code: 400 },
      'HTTP 400 BadRequestError: bad',
    ],
    [
      'a detail',
      { detail: [{ loc: ['body'], msg: 'Field required' }] },
      'HTTP 400: [{"loc":["body"],"msg":"Field required"}]',
    ],
    [
      'a list',
      [{ error: { message: 'in a list', status: 'INVALID_ARGUMENT' } }],
      'HTTP 400 INVALID_ARGUMENT: in a list',
    ],
    [
      'what a server behind it said',
      { error: { message: 'Provider returned error', code: 400, metadata: { raw: '{"e":"no tools"}' } } },
      'HTTP 400: Provider returned error: {"e":"no tools"}',
    ],
    ['plain text', 'Bad\u001b[31m gateway', 'HTTP 400: Bad gateway'],
    ['nothing', '', 'HTTP 400'],
    ['null', 'null', 'HTTP 400: null'],
    ['a number', '5', 'HTTP 400'],
    ['an empty list', '[]', 'HTTP 400'],
    ['fields of other types', '{"error":{"message":7,"code":{},"type":[]}}', 'HTTP 400: 7'],
    ['half of JSON', '{"error": {"mess', 'HTTP 400: {"error": {"mess'],
  ])('with %s is told in one line', async (_, said, message) => {
    expect(asFailure(await outcomeOf({ status: 400, body: said })).message).toBe(message);
  });

  test.each([
    '{"error":'.repeat(50_000),
    `{"detail":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
    'x'.repeat(8 << 20),
  ])('with a monstrous body keeps its meaning (%#)', async (monster) => {
    const failure = asFailure(await outcomeOf({ status: 503, body: monster }));
    expect(failure).toMatchObject({ class: 'unavailable', httpStatus: 503 });
    expect(failure.message.length).toBeLessThan(400);
  });

  test('whose body breaks off keeps its meaning', async () => {
    const server = await serveRaw(({ socket }) =>
      socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 500\r\n\r\n{"error"'),
    );
    expect(asFailure(await send(open(server)))).toMatchObject({ class: 'auth', httpStatus: 401 });
  });

  test('of a filter before the model is a blocked answer', async () => {
    const said = body('The response was filtered due to the prompt.', 'content_filter');
    expect(asReply(await outcomeOf({ status: 400, body: said }))).toMatchObject({
      end: 'blocked',
      finishReason: 'content_filter',
      finishMessage: 'The response was filtered due to the prompt.',
      content: { parts: [] },
    });
  });
});

describe('how long to wait', () => {
  const now = Date.parse('2030-01-01T00:00:00Z');

  test.each<[Record<string, string>, number | undefined]>([
    [{}, undefined],
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': ' 1.5 ' }, 1500],
    [{ 'retry-after': 'Tue, 01 Jan 2030 00:00:20 GMT' }, 20_000],
    [{ 'retry-after': 'Tue, 01 Jan 2019 00:00:20 GMT' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '-5' }, undefined],
    [{ 'retry-after': '' }, undefined],
    [{ 'retry-after-ms': '250', 'retry-after': '1' }, 250],
    [{ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '1m1.5s' }, 61_500],
    [{ 'x-ratelimit-remaining-requests': '3', 'x-ratelimit-reset-requests': '1h' }, undefined],
    [
      {
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': '17ms',
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '6m0s',
      },
      360_000,
    ],
    [{ 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '1741305600000' }, undefined],
    [{ 'retry-after': '2', 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '6m' }, 2000],
  ])('is read from %j', (headers, ms) => {
    expect(retryAfterMs(headers, now)).toBe(ms);
  });

  test('comes with failures that are worth a retry, and with no other', async () => {
    const headers = { 'retry-after': '7' };
    const failures = [429, 503, 401].map((status) => outcomeOf({ status, body: '', headers }));
    expect((await Promise.all(failures)).map((one) => asFailure(one).retryAfterMs)).toEqual([
      7000,
      7000,
      undefined,
    ]);
  });
});

describe('an error in place of an answer', () => {
  test.each<[string, object, object]>([
    [
      'with a status',
      { error: { code: 503, message: 'over\nloaded' } },
      { class: 'unavailable', httpStatus: 503, message: 'HTTP 503: over loaded' },
    ],
    [
      'with a status in words',
      { error: { code: '429', message: 'slow' } },
      { class: 'quota', retryable: true, httpStatus: 429 },
    ],
    [
      'of a limit',
      { error: { type: 'rate_limit_exceeded', message: 'slow' } },
      { class: 'quota', retryable: true },
    ],
    [
      'of billing',
      { error: { type: 'insufficient_quota', message: 'pay' } },
      { class: 'quota', retryable: false },
    ],
    [
      'of the request',
      { error: { type: 'invalid_request_error', message: 'bad' } },
      { class: 'invalid_request', retryable: false },
    ],
    [
      'of the server',
      { error: { type: 'server_error', message: 'oops' } },
      { class: 'unavailable', retryable: true },
    ],
    [
      'that is a string',
      { error: 'unexpected EOF' },
      { class: 'unavailable', message: 'an error instead of an answer: unexpected EOF' },
    ],
    [
      'without the word',
      { object: 'error', message: 'bad', code: 400 },
      { class: 'invalid_request', httpStatus: 400 },
    ],
  ])('%s is that error, wherever it comes', async (_, error, expected) => {
    const half = streamOf({ text: 'half', done: false });
    const event = `data: ${JSON.stringify(error)}\n\n`;
    for (const pieces of [
      [event],
      [...half, event],
      [...half, `event: error\n${event}`],
      [...half, JSON.stringify(error)],
    ]) {
      expect(asFailure(await outcomeOf({ pieces }))).toMatchObject(expected);
    }
    expect(asFailure(await outcomeOf({ whole: error }))).toMatchObject(expected);
  });
});

describe('the key', () => {
  test.each([300, 280, 290])('is never told, even where a long message is cut (%i)', async (length) => {
    const quoted = `${'x'.repeat(length - 8)} ${KEY} was refused`;
    const replies = [
      { status: 401, body: body(quoted) },
      { status: 400, body: quoted },
      { pieces: [`data: ${JSON.stringify(body(quoted))}\n\n`] },
      { pieces: [`${KEY}\n`] },
    ];
    for (const reply of replies) {
      const told = JSON.stringify(await outcomeOf(reply));
      expect(told).not.toContain(KEY.slice(0, 8));
    }
  });

  test('that is a mere placeholder does not garble messages', async () => {
    const server = await serve([{ status: 400, body: body('a bad axe') }]);
    const failure = asFailure(await send(open(server, { access: { baseUrl: server.url, apiKey: 'a' } })));
    expect(failure.message).toBe('HTTP 400: a bad axe');
  });

  const problemOf = (work: () => unknown): Problem => {
    try {
      work();
    } catch (error) {
      return error as Problem;
    }
    throw new Error('no problem');
  };

  test.each<[Record<string, string>, string | undefined, object]>([
    [{ OPENAI_API_KEY: ' k1\n' }, undefined, { apiKey: 'k1', baseUrl: 'https://api.openai.com/v1' }],
    [{ OPENAI_API_KEY: 'k1' }, 'http://127.0.0.1:1/v1', { apiKey: 'k1', baseUrl: 'http://127.0.0.1:1/v1' }],
    [{}, 'http://127.0.0.1:1/v1', { baseUrl: 'http://127.0.0.1:1/v1' }],
    [
      { OPENAI_API_KEY: 'k', OPENAI_ORG_ID: 'o', OPENAI_PROJECT: 'p' },
      undefined,
      { apiKey: 'k', baseUrl: 'https://api.openai.com/v1', organization: 'o', project: 'p' },
    ],
  ])('from %j for %s', (variables, baseUrl, access) => {
    expect(openAiAccess(variables, baseUrl)).toEqual(access);
  });

  test.each<[Record<string, string>, string | undefined, object]>([
    [{}, undefined, { status: 'auth', code: 'no_credentials' }],
    [{ OPENAI_API_KEY: ' ' }, 'https://api.openai.com/v1/', { status: 'auth', code: 'no_credentials' }],
    [{ GEMINI_API_KEY: 'k' }, undefined, { status: 'auth', code: 'no_credentials' }],
    [{ OPENAI_API_KEY: 'two words' }, undefined, { status: 'auth', code: 'malformed_key' }],
    [{ OPENAI_API_KEY: 'k', OPENAI_PROJECT: 'ä' }, undefined, { status: 'config_error' }],
  ])('from %j for %s is a problem', (variables, baseUrl, expected) => {
    const problem = problemOf(() => openAiAccess(variables, baseUrl));
    expect(problem).toMatchObject(expected);
    expect(problem.message).toContain('OPENAI_');
    expect(problem.message).not.toContain('two words');
  });
});

test('an attachment that the protocol has no shape for is refused before anything is sent', async () => {
  const server = await serve([{ text: 'x' }]);
  const video = { inlineData: { mimeType: 'video/mp4', data: 'AAAA' } };
  const failure = asFailure(
    await send(open(server), { contents: [{ role: 'user', parts: [...HELLO.parts, video] }] }),
  );
  expect(failure).toMatchObject({ class: 'invalid_request', retryable: false });
  expect(failure.message).toContain('video/mp4');
  expect(server.requests).toHaveLength(0);
});

test('a port where nobody listens is unavailable, and the message says where', async () => {
  const server = await serveRaw(() => {});
  await server.close();
  const failure = asFailure(await send(open(server)));
  expect(failure).toMatchObject({ class: 'unavailable', retryable: true });
  expect(failure.message).toContain(`ECONNREFUSED 127.0.0.1:${server.port}`);
});
