import { getEventListeners } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { asFailure, asReply, providers, request, send, within } from '../helpers/provider.js';
import { answerWith, chunk, event, LAST_CHUNK, SSE_HEAD } from '../helpers/raw-server.js';
import { startProxy } from '../helpers/proxy.js';

const { use, open, serve, serveRaw } = providers();
const LONG = { connectMs: 20_000, firstByteMs: 20_000, idleMs: 20_000, totalMs: 20_000 };

/** The failure of a request that ran into a limit. */
async function late(work: Promise<Parameters<typeof asFailure>[0]>) {
  const failure = asFailure(await within(2000, work));
  expect(failure).toMatchObject({ class: 'unavailable', retryable: true });
  return failure.message;
}

describe('a limit on time', () => {
  test('ends the wait for the first byte, and closes the connection', async () => {
    const server = await serveRaw(() => {});
    const message = await late(send(open(server, { timeouts: { ...LONG, firstByteMs: 80 } })));
    expect(message).toBe('no answer from the API: no first byte within 0.08 s (first byte timeout)');
    await within(2000, server.connections[0]?.closed ?? Promise.reject(new Error('no connection')));
  });

  test('ends a stream that fell silent, and closes the connection', async () => {
    const server = await serveRaw(({ socket }) => {
      socket.write(SSE_HEAD);
      socket.write(chunk(event('half', undefined)));
    });
    const message = await late(send(open(server, { timeouts: { ...LONG, idleMs: 80 } })));
    expect(message).toContain('the stream went silent: nothing received within 0.08 s (stream idle timeout)');
    await within(2000, server.connections[0]?.closed ?? Promise.reject(new Error('no connection')));
  });

  test('ends an answer of which only the head came', async () => {
    const server = await serveRaw(({ socket }) => socket.write(SSE_HEAD));
    const message = await late(send(open(server, { timeouts: { ...LONG, idleMs: 80 } })));
    expect(message).toContain('silent');
  });

  test('ends an error whose body does not come', async () => {
    const head = 'HTTP/1.1 500 Internal Server Error\r\ncontent-length: 99\r\n\r\n{';
    const server = await serveRaw(({ socket }) => socket.write(head));
    await late(send(open(server, { timeouts: { ...LONG, idleMs: 80 } })));
  });

  test('does not end a stream that is slow as a whole but never silent', async () => {
    const chunks = Array.from({ length: 8 }, (_, i) => [{ text: `${i}` }]);
    const server = await serve([{ chunks, chunkDelayMs: 60 }]);
    const timeouts = { ...LONG, idleMs: 400, firstByteMs: 400 };
    const reply = asReply(await send(open(server, { timeouts })));
    expect(reply.content.parts).toEqual([{ text: '01234567' }]);
  });

  test('ends an answer that goes on and on, and closes the connection', async () => {
    let timer: NodeJS.Timeout | undefined;
    const server = await serveRaw(({ socket }) => {
      socket.write(SSE_HEAD);
      timer = setInterval(() => socket.write(chunk(event('more', undefined))), 20);
    });
    const message = await late(send(open(server, { timeouts: { ...LONG, totalMs: 200 } })));
    expect(message).toContain('no complete answer within 0.2 s (total timeout)');
    await within(2000, server.connections[0]?.closed ?? Promise.reject(new Error('no connection')));
    clearInterval(timer);
  });

  test('that was not reached leaves no timer behind, and the connection is used again', async () => {
    const server = await serveRaw(({ socket }) => setTimeout(() => socket.write(answerWith('x')), 100));
    const provider = open(server, { timeouts: { ...LONG, totalMs: 600 } });
    for (let i = 0; i < 9; i++) asReply(await send(provider));
    expect(server.connections).toHaveLength(1);
  });

  test('ends a TLS handshake that is never answered, as a connection that was not made', async () => {
    const server = await serveRaw(() => {});
    const url = `https://127.0.0.1:${server.port}`;
    const message = await late(send(open({ url }, { timeouts: { ...LONG, connectMs: 80 } })));
    expect(message).toBe('no answer from the API: no connection within 0.08 s (connect timeout)');
    await within(2000, server.connections[0]?.closed ?? Promise.reject(new Error('no connection')));
  });

  test.each([
    ['says nothing', { stall: true }],
    ['opens the tunnel and passes nothing on', { deaf: true }],
  ])('ends the wait for a proxy that %s', async (_, behaviour) => {
    const proxy = use(await startProxy(behaviour));
    const settings = { timeouts: { ...LONG, connectMs: 80 }, proxyVariables: { HTTPS_PROXY: proxy.url } };
    const message = await late(send(open({ url: 'https://localhost:1' }, settings)));
    expect(message).toContain('no connection within 0.08 s (connect timeout)');
    await within(2000, proxy.requests[0]?.closed ?? Promise.reject(new Error('no request')));
  });

  test('on the first byte covers a plain proxy that says nothing', async () => {
    const proxy = use(await startProxy({ stall: true }));
    const settings = { timeouts: { ...LONG, firstByteMs: 80 }, proxyVariables: { HTTP_PROXY: proxy.url } };
    expect(await late(send(open({ url: 'http://api.invalid' }, settings)))).toContain('first byte timeout');
  });
});

describe('an abort', () => {
  test('before the answer closes the connection', async () => {
    const server = await serveRaw(() => {});
    const stop = new AbortController();
    const work = open(server).send(request(), stop.signal);
    await server.received(1);
    stop.abort();
    expect((await within(2000, work)).type).toBe('failure');
    await within(2000, server.connections[0]?.closed ?? Promise.reject(new Error('no connection')));
  });

  test('in the middle of a stream closes the connection', async () => {
    const server = await serveRaw(({ socket }) => {
      socket.write(SSE_HEAD);
      socket.write(chunk(event('half', undefined)));
    });
    const stop = new AbortController();
    const work = open(server).send(request(), stop.signal);
    await server.received(1);
    await new Promise(setImmediate);
    stop.abort();
    expect((await within(2000, work)).type).toBe('failure');
    await within(2000, server.connections[0]?.closed ?? Promise.reject(new Error('no connection')));
  });

  test('while a proxy says nothing closes the connection to it', async () => {
    const proxy = use(await startProxy({ stall: true }));
    const provider = open({ url: 'https://localhost:1' }, { proxyVariables: { HTTPS_PROXY: proxy.url } });
    const stop = new AbortController();
    const work = provider.send(request(), stop.signal);
    await proxy.first;
    stop.abort();
    expect((await within(2000, work)).type).toBe('failure');
    await within(2000, proxy.requests[0]?.closed ?? Promise.reject(new Error('no request')));
  });

  test('that came before the request means that none is sent', async () => {
    const server = await serveRaw(({ socket }) => socket.write(answerWith('too late')));
    const outcome = await within(2000, open(server).send(request(), AbortSignal.abort()));
    expect(outcome.type).toBe('failure');
    expect(server.connections.flatMap(({ requests }) => requests)).toEqual([]);
  });

  test('leaves the provider fit for the next request', async () => {
    const server = await serveRaw(({ socket }, index) => index > 0 && socket.write(answerWith('well')));
    const provider = open(server);
    const stop = new AbortController();
    const first = provider.send(request(), stop.signal);
    await server.received(1);
    stop.abort();
    await within(2000, first);
    expect(asReply(await within(2000, send(provider))).content.parts).toEqual([{ text: 'well' }]);
  });

  test('is not listened for any longer once a request is done', async () => {
    const server = await serveRaw(({ socket }) => socket.write(answerWith('x')));
    const provider = open(server);
    const { signal } = new AbortController();
    for (let i = 0; i < 3; i++) await provider.send(request(), signal);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('of a stream that went wrong lets nothing of it go on in the background', async () => {
    const bad = `data: {"error":{"code":503,"message":"x","status":"UNAVAILABLE"}}\r\n\r\n`;
    const server = await serveRaw(({ socket }) => {
      socket.write(Buffer.concat([Buffer.from(SSE_HEAD), chunk(bad), Buffer.from(LAST_CHUNK)]));
    });
    asFailure(await send(open(server)));
    await within(2000, server.connections[0]?.closed ?? Promise.reject(new Error('no connection')));
  });
});
