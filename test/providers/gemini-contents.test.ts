import { describe, expect, test } from '@jest/globals';
import type { Part } from '../../src/protocol/content.js';
import { asReply, HELLO, providers, send } from '../helpers/provider.js';
import { text } from '../helpers/gemini-server.mjs';

const { open, serve, outcomeOf } = providers();

async function partsFrom(chunks: object[][]): Promise<readonly Part[]> {
  return asReply(await outcomeOf({ chunks })).content.parts;
}

describe('what the model said goes back to it', () => {
  // Written by hand: the order of keys, fields that no SDK knows, and a name that assignment would swallow.
  const exact = [
    '{"thoughtSignature":"c2lnbmF0dXJlLTE=","functionCall":{"args":{"z":1,"a":{"__proto__":{"x":1},"list":[null,0.5,0,1e+21]},"":"empty"},"name":"read_file","id":"x-1","novel":{"deep":[1]}}}',
    '{"text":"signed","thoughtSignature":"c2ln"}',
    '{"text":"","thoughtSignature":"ZW1wdHk="}',
    '{"text":"a thought","thought":true,"thoughtSignature":"dGhvdWdodA=="}',
    '{"text":"labelled","partMetadata":{"k":"v"},"mediaResolution":{"level":"HIGH"}}',
    '{"executableCode":{"language":"PYTHON","code":"print(\'é\u2028\\ud800\')"}}',
    '{"fieldOfTomorrow":{"answer":42}}',
    '{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}',
  ];

  test('byte for byte, fields of tomorrow and signatures included', async () => {
    const raw = `{"candidates":[{"content":{"role":"model","parts":[${exact.join(',')}]},"finishReason":"STOP"}]}`;
    const server = await serve([{ raw: `data: ${raw}\r\n\r\n` }, { parts: [text('done')] }]);
    const provider = open(server);
    const { content } = asReply(await send(provider));
    const response = { functionResponse: { id: 'x-1', name: 'read_file', response: { output: '…' } } };
    const answer = { role: 'user' as const, parts: [response] };
    await send(provider, { contents: [HELLO, content, answer] });
    expect(server.requests[1]?.raw).toContain(
      `"contents":[${JSON.stringify(HELLO)},{"role":"model","parts":[${exact.join(',')}]},${JSON.stringify(answer)}]`,
    );
  });

  test('in every later request again', async () => {
    const server = await serve(() => ({ parts: [{ text: 'x', tomorrow: 1 }] }));
    const provider = open(server);
    const contents = [HELLO];
    for (let turn = 0; turn < 3; turn++) {
      const { content } = asReply(await send(provider, { contents: [...contents] }));
      contents.push(content, { role: 'user', parts: [{ text: `go on ${turn}` }] });
    }
    await send(provider, { contents });
    expect(server.requests[3]?.body.contents).toEqual(contents);
    expect(server.requests[3]?.raw.split('{"text":"x","tomorrow":1}')).toHaveLength(4);
  });

  test('even if a text looks like the place where the conversation is put', async () => {
    const server = await serve([{ parts: [text('ok')] }]);
    const mark = '{"parts":[{"text":"\u0002contents\u0002"}],"role":"user"}';
    const contents = [{ role: 'user' as const, parts: [{ text: mark }, { text: JSON.stringify(mark) }] }];
    await send(open(server), { contents, system: mark });
    expect(server.requests[0]?.body.contents).toEqual(contents);
    expect(server.requests[0]?.body.systemInstruction.parts).toEqual([{ text: mark }]);
  });
});

describe('the pieces of a stream', () => {
  test('of plain text become one part', async () => {
    const parts = await partsFrom([[text('One'), text(', ')], [text('two')], [text('.')]]);
    expect(parts).toEqual([{ text: 'One, two.' }]);
  });

  test('of text are not merged across a call', async () => {
    const call = { functionCall: { name: 'a', args: {} } };
    const parts = await partsFrom([
      [text('before'), call],
      [text('after'), text(' it')],
    ]);
    expect(parts).toEqual([text('before'), call, text('after it')]);
  });

  test.each([
    ['a signature', { text: 'b', thoughtSignature: 'c2ln' }],
    ['a field that is not known', { text: 'b', novelty: true }],
    ['a signature and no text', { text: '', thoughtSignature: 'c2ln' }],
  ])('of text with %s stay as they are, and in their place', async (_, special) => {
    const parts = await partsFrom([[text('a')], [special], [text('c')], [text('d')]]);
    expect(parts).toEqual([text('a'), special, text('cd')]);
  });

  test('that are empty leave nothing behind', async () => {
    expect(await partsFrom([[text('')], [text('a')], [text('')]])).toEqual([text('a')]);
  });

  test('that are thoughts are told apart, and sent back only with a signature', async () => {
    const signed = { text: 'B', thought: true, thoughtSignature: 'c2ln' };
    const thought = { text: 'A', thought: true };
    const reply = asReply(await outcomeOf({ chunks: [[thought], [signed], [text('answer')]] }));
    expect(reply.thoughts).toBe('AB');
    expect(reply.content.parts).toEqual([signed, text('answer')]);
  });

  test('of parallel calls keep their order and their ids', async () => {
    const calls = ['c', 'a', 'b'].map((id) => ({ functionCall: { id, name: `tool_${id}`, args: { id } } }));
    expect(await partsFrom([calls.slice(0, 2), calls.slice(2)])).toEqual(calls);
  });
});
