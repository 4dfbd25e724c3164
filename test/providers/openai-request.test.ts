import { describe, expect, test } from '@jest/globals';
import type { Content } from '../../src/protocol/content.js';
import { openAiProviders } from '../helpers/openai-provider.js';
import { toolCall } from '../helpers/openai-server.mjs';
import { asFailure, asReply, HELLO, send } from '../helpers/provider.js';

const { open, serve } = openAiProviders();
const ANSWER = { text: 'Hi.' };

const TOOL = {
  name: 'read_file',
  description: 'Reads a file.',
  parameters: {
    type: 'object',
    properties: { path: { type: 'string', pattern: '^[^\u0000]+$' } },
    required: ['path'],
    additionalProperties: false,
  },
} as const;

describe('a request for a chat completion', () => {
  test('carries the instruction, the conversation and the tools, and asks for a stream with usage', async () => {
    const server = await serve([ANSWER]);
    await send(open(server), { tools: [TOOL] });
    const [sent] = server.requests;
    expect(sent?.method).toBe('POST');
    expect(sent?.url).toBe('/v1/chat/completions');
    expect(sent?.headers).toMatchObject({
      authorization: 'Bearer test-key-openai',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(sent?.raw ?? '')),
    });
    expect(sent?.body).toEqual({
      model: 'some-model',
      max_tokens: 8192,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello.' },
      ],
      tools: [{ type: 'function', function: TOOL }],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  test('says nothing of tools if there are none', async () => {
    const server = await serve([ANSWER]);
    await send(open(server));
    expect(server.requests[0]?.body).not.toHaveProperty('tools');
  });

  test.each([
    ['', '/chat/completions'],
    ['/', '/chat/completions'],
    ['/v1', '/v1/chat/completions'],
    ['/v1//', '/v1/chat/completions'],
    ['/gateway/eu/v1/', '/gateway/eu/v1/chat/completions'],
    ['/openai?api-version=7', '/openai/chat/completions?api-version=7'],
    ['/v1/chat/completions', '/v1/chat/completions'],
  ])('with the base URL %j goes to %s', async (path, url) => {
    const server = await serve([ANSWER]);
    await send(open({ url: `http://127.0.0.1:${server.port}${path}` }));
    expect(server.requests[0]?.url).toBe(url);
  });

  test('names organization and project if they are known, and no key if there is none', async () => {
    const server = await serve([ANSWER, ANSWER]);
    const baseUrl = server.url;
    await send(open(server, { access: { baseUrl, organization: 'org-1', project: 'proj-1' } }));
    await send(open(server));
    expect(server.requests[0]?.headers).toMatchObject({
      'openai-organization': 'org-1',
      'openai-project': 'proj-1',
    });
    expect(server.requests[0]?.headers).not.toHaveProperty('authorization');
    expect(server.requests[1]?.headers).not.toHaveProperty('openai-organization');
  });

  test('gives a hint after the instruction, only in the request it is for', async () => {
    const server = await serve([ANSWER, ANSWER]);
    const provider = open(server);
    await send(provider, { hint: 'Answer in text.' });
    await send(provider);
    const said = server.requests.map(({ body }) => body.messages[0].content);
    expect(said).toEqual(['Be brief.\n\nAnswer in text.', 'Be brief.']);
  });

  test('tells when it is on its way', async () => {
    let sent = 0;
    await send(open(await serve([ANSWER]), { onSent: () => sent++ }));
    expect(sent).toBe(1);
  });

  test('goes over the connection of the one before it, even if that one failed', async () => {
    const server = await serve([ANSWER, { status: 503, body: 'busy' }, ANSWER]);
    const provider = open(server);
    for (let i = 0; i < 3; i++) await send(provider);
    expect(server.requests.map(({ socket }) => socket)).toEqual([0, 0, 0]);
  });

  test('says earlier messages in the very same bytes', async () => {
    const args = '{ "path":"a",  "n": 1.50, "2":0, "1":1 }';
    const server = await serve((_, i) => (i < 3 ? { calls: [toolCall('read_file', args, 'c1')] } : ANSWER));
    const provider = open(server);
    let contents: Content[] = [HELLO];
    for (let turn = 0; turn < 3; turn++) {
      const { content } = asReply(await send(provider, { contents }));
      const functionResponse = { id: 'c1', name: 'read_file', response: { output: `${turn}` } };
      contents = contents.concat(content, { role: 'user', parts: [{ functionResponse }] });
    }
    await send(provider, { contents });
    const told = server.requests.map(({ raw }) => raw.slice(0, raw.indexOf('],"max_tokens"')));
    for (const [i, one] of told.entries()) expect(told[i + 1] ?? one).toContain(one);
    expect(server.requests[3]?.raw.split(JSON.stringify(args))).toHaveLength(4);
  });

  test('sends a conversation of several megabytes whole', async () => {
    const server = await serve([ANSWER]);
    const long = 'ä€😀'.repeat(400_000);
    await send(open(server), { contents: [{ role: 'user', parts: [{ text: long }] }] });
    expect(server.requests[0]?.body.messages[1].content === long).toBe(true);
  });
});

describe('a server that refuses', () => {
  const refusal = (status: number, message: string) => ({ status, body: { error: { message } } });

  test.each([
    [400, "Unknown parameter: 'stream_options'."],
    [422, '[{"loc":["body","stream_options","include_usage"],"msg":"Extra inputs are not permitted"}]'],
  ])('to tell usage (%i) is asked again without, and never again with it', async (status, message) => {
    const server = await serve([refusal(status, message), { ...ANSWER, usage: null }, ANSWER]);
    const provider = open(server);
    expect(asReply(await send(provider)).content.parts).toEqual([{ text: 'Hi.' }]);
    asReply(await send(provider));
    const asked = server.requests.map(({ body }) => 'stream_options' in body);
    expect(asked).toEqual([true, false, false]);
  });

  test('something else is not asked again', async () => {
    const server = await serve([refusal(400, 'reasoning is not for this model'), ANSWER]);
    expect(asFailure(await send(open(server))).class).toBe('invalid_request');
    expect(server.requests).toHaveLength(1);
  });

  test('usage and goes on refusing is not asked a third time', async () => {
    const server = await serve(() => refusal(400, 'stream_options is evil'));
    expect(asFailure(await send(open(server))).class).toBe('invalid_request');
    expect(server.requests).toHaveLength(2);
  });

  test('its own thoughts gets the conversation without them', async () => {
    const thinking = { deltas: [{ reasoning: 'Hm.' }, { tool_calls: [{ index: 0, ...toolCall('f', {}) }] }] };
    const refused = refusal(400, "'messages.2' : property 'reasoning' is unsupported");
    const server = await serve([{ ...thinking, finishReason: 'tool_calls' }, refused, ANSWER]);
    const provider = open(server);
    const { content } = asReply(await send(provider));
    const functionResponse = { id: 'call_f', name: 'f', response: { output: '' } };
    asReply(
      await send(provider, { contents: [HELLO, content, { role: 'user', parts: [{ functionResponse }] }] }),
    );
    const sent = server.requests.slice(1).map(({ body }) => 'reasoning' in body.messages[2]);
    expect(sent).toEqual([true, false]);
  });
});
