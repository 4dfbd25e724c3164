import { describe, expect, test } from '@jest/globals';
import { providers, request, send } from '../helpers/provider.js';
import { text } from '../helpers/gemini-server.mjs';

const { open, serve } = providers();
const ANSWER = { parts: [text('Hi.')] };

const TOOL = {
  name: 'read_file',
  description: 'Reads a file.',
  parameters: {
    type: 'object',
    properties: { path: { type: 'string', pattern: '^[^\u0000]+$' }, lines: { anyOf: [{ type: 'null' }] } },
    required: ['path'],
    additionalProperties: false,
  },
} as const;

describe('a request to the Gemini API', () => {
  test('goes to the streaming method of the model, with the key in a header and not in the URL', async () => {
    const server = await serve([ANSWER]);
    await send(open(server));
    const [sent] = server.requests;
    expect(sent?.method).toBe('POST');
    expect(sent?.url).toBe('/v1beta/models/gemini-test:streamGenerateContent?alt=sse');
    expect(sent?.headers['x-goog-api-key']).toBe('test-key');
    expect(sent?.headers['content-type']).toBe('application/json');
    expect(sent?.headers['content-length']).toBe(String(Buffer.byteLength(sent?.raw ?? '')));
    expect(sent?.headers['host']).toBe(`127.0.0.1:${server.port}`);
  });

  test('keeps a path in the base URL', async () => {
    const server = await serve([ANSWER]);
    await send(open({ url: `${server.url}/gateway/google/` }));
    expect(server.requests[0]?.url).toBe(
      '/gateway/google/v1beta/models/gemini-test:streamGenerateContent?alt=sse',
    );
  });

  test('carries the conversation, the system instruction and nothing that was not asked for', async () => {
    const server = await serve([ANSWER]);
    await send(open(server));
    const { systemInstruction, ...rest } = server.requests[0]?.body ?? {};
    expect(systemInstruction.parts).toEqual([{ text: 'Be brief.' }]);
    expect(rest).toEqual({ contents: request().contents, generationConfig: { maxOutputTokens: 8192 } });
  });

  test('declares tools by their JSON Schema, to the letter', async () => {
    const server = await serve([ANSWER]);
    await send(open(server), { tools: [TOOL, { ...TOOL, name: 'other' }] });
    const declared = ({ name, description, parameters }: typeof TOOL) => ({
      name,
      description,
      parametersJsonSchema: parameters,
    });
    expect(server.requests[0]?.body.tools).toEqual([
      { functionDeclarations: [declared(TOOL), { ...declared(TOOL), name: 'other' }] },
    ]);
    expect(server.requests[0]?.raw).toContain(JSON.stringify(TOOL.parameters));
  });

  test('gives a hint after the system instruction, only in the request it is for', async () => {
    const server = await serve([ANSWER, ANSWER]);
    const provider = open(server);
    await send(provider, { hint: 'Answer in text.' });
    await send(provider);
    const said = server.requests.map(({ body }) => body.systemInstruction.parts[0].text);
    expect(said).toEqual(['Be brief.\n\nAnswer in text.', 'Be brief.']);
    expect(server.requests[0]?.body.contents).toEqual(server.requests[1]?.body.contents);
  });

  test.each([true, false])('asks for thoughts only when they are wanted (%s)', async (includeThoughts) => {
    const server = await serve([ANSWER]);
    await send(open(server, { includeThoughts }));
    const thinking = server.requests[0]?.body.generationConfig?.thinkingConfig;
    expect(thinking).toEqual(includeThoughts ? { includeThoughts: true } : undefined);
  });

  test('tells when it is on its way, once per request and before the answer is there', async () => {
    const order: string[] = [];
    const server = await serve(() => {
      order.push('received');
      return { ...ANSWER, delayMs: 20 };
    });
    const provider = open(server, { onSent: () => order.push('sent') });
    await send(provider);
    order.push('answered');
    expect(order.toSorted()).toEqual(['answered', 'received', 'sent']);
    expect(order.at(-1)).toBe('answered');
  });

  test('sends a conversation of several megabytes whole', async () => {
    const server = await serve([ANSWER]);
    const long = 'ä€😀'.repeat(400_000);
    await send(open(server), { contents: [{ role: 'user', parts: [{ text: long }] }] });
    expect(server.requests[0]?.body.contents[0].parts[0].text === long).toBe(true);
  });
});
