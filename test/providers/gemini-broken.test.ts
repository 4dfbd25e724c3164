import { describe, expect, test } from '@jest/globals';
import { asFailure, providers, send } from '../helpers/provider.js';
import { chunk, event, LAST_CHUNK, SSE_HEAD, type Connection } from '../helpers/raw-server.js';

const { open, serveRaw, outcomeOf } = providers();

async function failureWhen(answer: (connection: Connection) => void) {
  const server = await serveRaw(answer);
  const failure = asFailure(await send(open(server)));
  expect(failure.retryable).toBe(true);
  expect(failure.httpStatus).toBeUndefined();
  expect(failure.message).toMatch(/^[^\n]{10,300}$/);
  return { failure, server };
}

describe('an answer that breaks', () => {
  test.each([
    ['after half an event', event('a long answer').slice(0, 40)],
    ['between two events', event('half of it', undefined)],
    ['before the first event', ''],
    ['in the middle of a character', Buffer.from(event('é')).subarray(0, -30)],
  ])('%s is unavailable and nothing of it is kept', async (_, sent) => {
    const { failure, server } = await failureWhen(({ socket }) => {
      socket.write(SSE_HEAD);
      if (sent.length > 0) socket.write(chunk(sent));
      socket.end();
    });
    expect(failure.class).toBe('unavailable');
    // A stream that began is never asked for again behind the caller's back.
    expect(server.connections).toHaveLength(1);
  });

  test('after its finish reason, but before its end, is not trusted either', async () => {
    const { failure } = await failureWhen(({ socket }) => {
      socket.write(SSE_HEAD);
      socket.write(chunk(event('all of it?')));
      socket.end();
    });
    expect(failure.class).toBe('unavailable');
  });

  test('by a reset in the stream is unavailable', async () => {
    const { failure } = await failureWhen(({ socket }) => {
      socket.write(SSE_HEAD);
      socket.write(chunk(event('half', undefined)), () => socket.resetAndDestroy());
    });
    expect(failure.class).toBe('unavailable');
  });

  test('by a reset before any answer is unavailable, and the request is not sent twice', async () => {
    const { failure, server } = await failureWhen(({ socket }) => socket.resetAndDestroy());
    expect(failure.class).toBe('unavailable');
    expect(failure.message).toMatch(/ECONNRESET|socket hang up/);
    expect(server.connections).toHaveLength(1);
  });

  test('by the end of the connection before any answer is unavailable', async () => {
    const { failure } = await failureWhen(({ socket }) => socket.end());
    expect(failure.class).toBe('unavailable');
  });

  test('with half an event, and then ends as if all was well, is not the protocol', async () => {
    const { failure } = await failureWhen(({ socket }) => {
      socket.end(
        Buffer.concat([Buffer.from(SSE_HEAD), chunk(event('x').slice(0, 40)), Buffer.from(LAST_CHUNK)]),
      );
    });
    expect(failure.class).toBe('protocol');
  });

  test('with bytes that are not HTTP is a failure', async () => {
    const { failure } = await failureWhen(({ socket }) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
    expect(['unavailable', 'protocol']).toContain(failure.class);
  });
});

describe('an answer that is not the protocol', () => {
  const html = { 'content-type': 'text/html' };

  test.each([
    ['a login page', '<!doctype html>\n<html><body>Please log in.</body></html>\n', html],
    ['a page with blank lines', '<html>\n\n<body>\n\n<p>Log in.</p>\n\n</body></html>\n', html],
    ['a page that ends in a blank line', '<html>\n\n<body>Log in.</body></html>\n\n', html],
    ['JSON without a stream', '[{"candidates":[]}]', { 'content-type': 'application/json' }],
    ['plain text', 'upstream said ok', { 'content-type': 'text/plain' }],
  ])('under 200, %s, is a failure that says so', async (_, raw, headers) => {
    const failure = asFailure(await outcomeOf({ raw, headers }));
    expect(failure).toMatchObject({ class: 'protocol', retryable: true });
    expect(failure.message).toMatch(/^[^\n]{10,300}$/);
    expect(failure.hint).toMatch(/proxy|base URL/);
  });

  test('an empty 200 is a failure that is worth a retry', async () => {
    const failure = asFailure(await outcomeOf({ raw: '' }));
    expect(failure).toMatchObject({ type: 'failure', retryable: true });
    expect(['unavailable', 'protocol']).toContain(failure.class);
  });

  test('a redirect to a login page is neither followed nor taken for a matter of our credentials', async () => {
    const headers = { location: 'http://127.0.0.1:1/login' };
    const failure = asFailure(
      await outcomeOf({ status: 302, body: '<p>Enter your credentials</p>', headers }),
    );
    expect(failure.retryable).toBe(true);
    expect(['unavailable', 'protocol']).toContain(failure.class);
    expect(failure.message).toMatch(/302/);
  });

  test.each([
    'null',
    '[]',
    '7',
    '{"candidates":[null]}',
    '{"candidates":[{"content":{"parts":[null]}}]}',
    '{"candidates":[{"content":{"parts":"text"},"finishReason":"STOP"}]}',
  ])('an event with %s is a failure and not an exception', async (json) => {
    const failure = asFailure(await outcomeOf({ raw: `data: ${json}\r\n\r\n` }));
    expect(['unavailable', 'protocol']).toContain(failure.class);
    expect(failure.message).toMatch(/^[^\n]{10,300}$/);
  });
});

test('a port where nobody listens is unavailable, and the message says where', async () => {
  const server = await serveRaw(() => {});
  await server.close();
  const failure = asFailure(await send(open(server)));
  expect(failure).toMatchObject({ class: 'unavailable', retryable: true });
  expect(failure.message).toContain(`ECONNREFUSED 127.0.0.1:${server.port}`);
});

test.each(['not a url', 'ftp://127.0.0.1/', 'http://'])(
  'the base URL %j is a failure, not an exception',
  async (url) => {
    const failure = asFailure(await send(open({ url })));
    expect(failure.message).toMatch(/^[^\n]{10,300}$/);
  },
);
