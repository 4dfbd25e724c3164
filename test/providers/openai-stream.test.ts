import { describe, expect, test } from '@jest/globals';
import { Readable } from 'node:stream';
import { eventData } from '../../src/providers/http/event-stream.js';
import { openAiProviders } from '../helpers/openai-provider.js';
import { streamOf, toolCall, type ChatReply } from '../helpers/openai-server.mjs';
import { asFailure, asReply, send, within } from '../helpers/provider.js';
import { Random } from '../helpers/random.js';
import { chunk, SSE_HEAD } from '../helpers/raw-server.js';

const { open, serve, serveRaw, outcomeOf } = openAiProviders();

const TEXT = 'é € 😀 data: {"x":1}\n\nnext\r\n\r\nline\u2028end';
const RICH: ChatReply = {
  deltas: [
    { role: 'assistant', content: '' },
    { reasoning_content: 'Hm… ü' },
    { content: TEXT.slice(0, 9) },
    { content: TEXT.slice(9) },
    { tool_calls: [{ index: 0, ...toolCall('read_file', '', 'c1') }] },
    { tool_calls: [{ index: 0, function: { arguments: '{ "file_path": ' } }] },
    { tool_calls: [{ index: 0, function: { arguments: '"ä 😀.txt" }' } }] },
    { tool_calls: [{ index: 1, ...toolCall('list_directory', { path: '.' }, 'c2') }] },
  ],
  finishReason: 'tool_calls',
};
const STREAM = streamOf(RICH).join('');

function cut(bytes: Buffer, sizes: () => number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += pieces.at(-1)?.length ?? 0) {
    pieces.push(bytes.subarray(at, at + sizes()));
  }
  return pieces;
}

describe('a stream is read the same', () => {
  const read = async (pieces: Buffer[]) => asReply(await outcomeOf({ pieces }));

  test('in one piece', async () => {
    const reply = await read([Buffer.from(STREAM)]);
    expect(reply).toEqual({
      type: 'reply',
      content: {
        role: 'model',
        parts: [
          { thought: true, openai: { thoughts: { reasoning_content: 'Hm… ü' } } },
          { text: TEXT },
          {
            functionCall: { id: 'c1', name: 'read_file', args: { file_path: 'ä 😀.txt' } },
            openai: { arguments: '{ "file_path": "ä 😀.txt" }' },
          },
          { functionCall: { id: 'c2', name: 'list_directory', args: { path: '.' } } },
        ],
      },
      end: 'stop',
      finishReason: 'tool_calls',
      model: 'scripted',
      thoughts: 'Hm… ü',
      usage: { prompt: 100, output: 10, total: 110 },
    });
  });

  const random = new Random(11);
  /** The stream with other line ends and things in front, cut at random. */
  const disguised = (): Buffer[] => {
    const end = random.pick(['\n', '\r\n', '\r']);
    const front = random.pick(['', ': ping\n\n', ':\n', 'event: message\n', 'id: 7\nretry: 100\n', '\ufeff']);
    const bytes = Buffer.from((front + STREAM).replaceAll('\n', end));
    const largest = random.pick([1, 3, 20, 400]);
    return cut(bytes, () => 1 + random.below(largest));
  };

  test('however it is cut and its lines end', async () => {
    const expected = streamOf(RICH).map((event) => event.slice('data: '.length).trimEnd());
    for (let round = 0; round < 100; round++) {
      const data: string[] = [];
      for await (const datum of eventData(Readable.from(disguised()))) data.push(datum);
      expect(data).toEqual(expected);
    }
  });

  test('however it is cut on the wire', async () => {
    const whole = await read([Buffer.from(STREAM)]);
    for (let round = 0; round < 5; round++) expect(await read(disguised())).toEqual(whole);
  });

  test.each<[string, (stream: string) => string]>([
    ['without a space after the colon', (stream) => stream.replaceAll('data: ', 'data:')],
    ['without [DONE]', (stream) => stream.replace('data: [DONE]\n\n', '')],
    ['without the last blank line', (stream) => stream.trimEnd()],
    ['with whatever comes after [DONE]', (stream) => `${stream}data: {"choices":\n\n<html>`],
    ['with comments and empty data', (stream) => stream.replaceAll('\n\n', '\n\n: processing\n\ndata:\n\n')],
    ['with a datum on two lines', (stream) => stream.replaceAll('"choices"', '\ndata: "choices"')],
    [
      'with other choices beside the first',
      (stream) =>
        stream.replaceAll(
          '"choices":[{',
          '"choices":[{"index":1,"delta":{"content":"no"},"finish_reason":"length"},{',
        ),
    ],
    ['with an error that is null', (stream) => stream.replaceAll('"choices"', '"error":null,"choices"')],
  ])('%s', async (_, disguise) => {
    expect(await read([Buffer.from(disguise(STREAM))])).toEqual(await read([Buffer.from(STREAM)]));
  });

  test('from a body that is not streamed, even if it is spread over lines', async () => {
    const body = {
      model: 'scripted',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'Hi.', refusal: null }, finish_reason: 'stop' },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    };
    const expected = {
      content: { parts: [{ text: 'Hi.' }] },
      end: 'stop',
      usage: { prompt: 1, output: 2, total: 3 },
    };
    expect(asReply(await outcomeOf({ whole: body }))).toMatchObject(expected);
    expect(await read([Buffer.from(`\n ${JSON.stringify(body, null, 2)}\n`)])).toMatchObject(expected);
  });

  test('from a server that does not hang up after [DONE], and without waiting for it', async () => {
    const server = await serve([{ text: 'Hi.', stayOpen: true }, { text: 'Again.' }]);
    const provider = open(server);
    expect(asReply(await within(5000, send(provider))).content.parts).toEqual([{ text: 'Hi.' }]);
    expect(asReply(await within(5000, send(provider))).content.parts).toEqual([{ text: 'Again.' }]);
  });
});

describe('an answer that breaks', () => {
  test.each<[string, ChatReply]>([
    ['without a finish reason', { text: 'half', finishReason: null, done: false }],
    ['without a finish reason, though [DONE] came', { text: 'half', finishReason: null }],
    ['with only [DONE]', { pieces: ['data: [DONE]\n\n'] }],
    ['with nothing', { pieces: [] }],
    ['in the connection, after a call', { calls: [toolCall('f', {})], cutAfter: 3 }],
    ['in the connection, after its finish reason', { text: 'x', done: false, cutAfter: 4 }],
    ['by a reset', { reset: true }],
    ['by its own word', { text: 'half', finishReason: 'error' }],
    ['for want of resources', { text: 'half', finishReason: 'insufficient_system_resource' }],
  ])('%s is unavailable, worth a retry, and nothing of it is kept', async (_, reply) => {
    const failure = asFailure(await outcomeOf(reply));
    expect(failure).toMatchObject({ class: 'unavailable', retryable: true });
    expect(failure.message).toMatch(/^[^\n]{10,300}$/);
    expect(failure.message).not.toContain('half');
  });

  test.each<[string, ChatReply]>([
    ['a login page', { pieces: ['<!doctype html>\n<html><body>Please log in.</body></html>'] }],
    ['plain text', { status: 200, body: 'upstream said ok' }],
    ['half an event', { pieces: ['data: {"choices":[{"delta":{"con'] }],
    ['an event that is not JSON', { pieces: ['data: {"choices":[{]}\n\n'] }],
    ['a number', { pieces: ['data: 7\n\n'] }],
    ['null', { pieces: ['data: null\n\n'] }],
    ['an empty list', { pieces: ['data: []\n\n'] }],
    ['choices that are no list', { pieces: ['data: {"choices":{"0":{}}}\n\n'] }],
    ['a choice that is null', { pieces: ['data: {"choices":[null]}\n\n'] }],
    ['calls that are no list', { events: [{ choices: [{ delta: { tool_calls: 'x' } }] }] }],
    ['a call that is null', { events: [{ choices: [{ delta: { tool_calls: [null] } }] }] }],
    ['JSON of something else', { whole: { status: 'ok' } }],
    ['a nest without a bottom', { pieces: [`data: ${'['.repeat(9000)}${']'.repeat(9000)}\n\n`] }],
    ['a redirect', { status: 302, body: '<p>Log in</p>', headers: { location: 'http://127.0.0.1:1/' } }],
    [
      'more calls than anyone makes',
      {
        deltas: [
          { tool_calls: Array.from({ length: 2000 }, (_, index) => ({ index, ...toolCall('f', {}) })) },
        ],
      },
    ],
  ])('because it is %s is not the protocol', async (_, reply) => {
    const failure = asFailure(await outcomeOf(reply));
    expect(failure).toMatchObject({ class: 'protocol', retryable: true });
    expect(failure.message).toMatch(/^[^\n]{10,400}$/);
    expect(failure.hint).toMatch(/OPENAI_BASE_URL/);
  });

  test('because a stream without end is sent is given up on', async () => {
    const server = await serveRaw(({ socket }) => {
      socket.write(SSE_HEAD);
      socket.write(chunk('data: '));
      const more = () => {
        while (!socket.destroyed && socket.write(chunk('x'.repeat(1 << 20))));
        if (!socket.destroyed) socket.once('drain', more);
      };
      more();
    });
    const failure = asFailure(await within(20_000, send(open(server))));
    expect(failure).toMatchObject({ class: 'protocol' });
    expect(failure.message).toContain('MiB');
    await server.connections[0]?.closed;
  });
});

describe('time', () => {
  const timeouts = { connectMs: 300, firstByteMs: 300, idleMs: 300 };

  test('is limited before the first byte, and in the silence between two', async () => {
    const silent = asFailure(await outcomeOf({ hang: true }, { timeouts }));
    expect(silent).toMatchObject({ class: 'unavailable', retryable: true });
    expect(silent.message).toContain('no first byte within 0.3 s');
    const stalled = await outcomeOf(
      { text: 'half', finishReason: null, done: false, stayOpen: true },
      { timeouts },
    );
    expect(asFailure(stalled).message).toContain('went silent');
  });

  test('ends with an abort, which closes the connection', async () => {
    const server = await serveRaw(({ socket }) => {
      socket.write(SSE_HEAD);
      socket.write(chunk(streamOf({ text: 'half', finishReason: null, done: false })[0] as string));
    });
    const abort = new AbortController();
    const sending = open(server).send({ system: '', contents: [], tools: [] }, abort.signal);
    await server.received(1);
    abort.abort();
    expect((await within(5000, sending)).type).toBe('failure');
    await within(5000, server.connections[0]?.closed ?? Promise.reject(new Error('no connection')));
  });

  test('that is over already sends nothing', async () => {
    const server = await serve([{ text: 'x' }]);
    const outcome = await open(server).send({ system: '', contents: [], tools: [] }, AbortSignal.abort());
    expect(outcome.type).toBe('failure');
    expect(server.requests).toHaveLength(0);
  });
});

test('a stream that was cut before its HTTP end, but after [DONE], is whole', async () => {
  const server = await serveRaw(({ socket }) => {
    socket.write(SSE_HEAD);
    socket.end(chunk(streamOf({ text: 'All of it.' }).join('')));
  });
  expect(asReply(await send(open(server))).content.parts).toEqual([{ text: 'All of it.' }]);
});
