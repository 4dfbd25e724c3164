import { describe, expect, test } from '@jest/globals';
import { asFailure, asReply, providers, send, within } from '../helpers/provider.js';
import { answerWith, chunk, event, SSE_HEAD } from '../helpers/raw-server.js';

const { open, serveRaw } = providers();
const HELLO = 'HTTP/1.1 503 Busy\r\ncontent-type: text/plain\r\ncontent-length: 4\r\n\r\nbusy';

describe('a connection', () => {
  test('serves five requests in a row', async () => {
    const server = await serveRaw(({ socket }, index) => socket.write(answerWith(`answer ${index}`)));
    const provider = open(server);
    const said: unknown[] = [];
    for (let i = 0; i < 5; i++) said.push(asReply(await send(provider)).content.parts[0]?.text);
    expect(said).toEqual([0, 1, 2, 3, 4].map((i) => `answer ${i}`));
    expect(server.connections.map(({ requests }) => requests.length)).toEqual([5]);
  });

  test('serves on after an HTTP error', async () => {
    const server = await serveRaw(({ socket }, index) => socket.write(index === 0 ? HELLO : answerWith('x')));
    const provider = open(server);
    asFailure(await send(provider));
    asReply(await send(provider));
    expect(server.connections).toHaveLength(1);
  });

  test('that the server has closed meanwhile is replaced', async () => {
    const server = await serveRaw(({ socket }, index) => {
      socket.write(answerWith(`answer ${index}`), () => index === 0 && socket.end());
    });
    const provider = open(server);
    asReply(await send(provider));
    await server.connections[0]?.closed;
    expect(asReply(await send(provider)).content.parts[0]?.text).toBe('answer 1');
    expect(server.connections.map(({ requests }) => requests.length)).toEqual([1, 1]);
  });

  test.each(['end', 'resetAndDestroy'] as const)(
    'that the server closes (%s) just as the next request comes is a failure that needs no wait',
    async (close) => {
      const server = await serveRaw(({ socket, requests }, index) => {
        if (requests.length === 2) socket[close]();
        else socket.write(answerWith(`answer ${index}`));
      });
      const provider = open(server);
      asReply(await send(provider));
      expect(asFailure(await send(provider))).toMatchObject({ class: 'unavailable', atOnce: true });
      expect(asReply(await send(provider)).content.parts[0]?.text).toBe('answer 2');
      expect(server.connections.map(({ requests }) => requests.length)).toEqual([2, 1]);
    },
  );

  test('that is new and closed all the same is the server’s doing, and worth a wait', async () => {
    const server = await serveRaw(({ socket }) => socket.resetAndDestroy());
    expect(asFailure(await within(3000, send(open(server))))).not.toHaveProperty('atOnce');
    expect(server.connections).toHaveLength(1);
  });

  test('that breaks in the middle of an answer is not replaced behind our back', async () => {
    const server = await serveRaw(({ socket, requests }) => {
      if (requests.length === 1) socket.write(answerWith('first'));
      else {
        socket.write(SSE_HEAD);
        socket.write(chunk(event('half', undefined)), () => socket.resetAndDestroy());
      }
    });
    const provider = open(server);
    asReply(await send(provider));
    asFailure(await send(provider));
    expect(server.connections).toHaveLength(1);
  });

  test('is not used again after a stream that was given up', async () => {
    const server = await serveRaw(({ socket }, index) => {
      if (index > 0) socket.write(answerWith('fresh'));
      else {
        socket.write(SSE_HEAD);
        socket.write(chunk('data: {"error":{"code":500,"message":"x","status":"INTERNAL"}}\n\n'));
      }
    });
    const provider = open(server);
    asFailure(await send(provider));
    expect(asReply(await send(provider)).content.parts).toEqual([{ text: 'fresh' }]);
    expect(server.connections).toHaveLength(2);
  });

  test('is closed with the provider', async () => {
    const server = await serveRaw(({ socket }) => socket.write(answerWith('x')));
    const provider = open(server);
    asReply(await send(provider));
    provider.close();
    await within(3000, server.connections[0]?.closed ?? Promise.reject(new Error('no connection')));
  });
});

test('requests at the same time get the answers that are theirs', async () => {
  const server = await serveRaw(({ socket, requests }) => {
    const asked = /"text":"(question \d)"/.exec(requests.at(-1) ?? '')?.[1];
    socket.write(answerWith(`answer to ${asked}`));
  });
  const provider = open(server);
  const ask = (i: number) =>
    send(provider, { contents: [{ role: 'user', parts: [{ text: `question ${i}` }] }] });
  const said = (await Promise.all([1, 2, 3, 4].map(ask))).map((one) => asReply(one).content.parts[0]?.text);
  expect(said).toEqual([1, 2, 3, 4].map((i) => `answer to question ${i}`));
});
