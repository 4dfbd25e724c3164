import { describe, expect, test } from '@jest/globals';
import type { FunctionCall } from '../../src/protocol/content.js';
import { ToolCalls } from '../../src/providers/openai/tool-calls.js';
import { within } from '../helpers/bounds.js';
import { openAiProviders } from '../helpers/openai-provider.js';
import { toolCall, type ChatReply } from '../helpers/openai-server.mjs';
import { asReply } from '../helpers/provider.js';

const { outcomeOf } = openAiProviders();

/** Deltas of calls: one list of entries for each event. */
const calls = (...lists: unknown[][]): ChatReply => ({
  deltas: lists.map((tool_calls) => ({ tool_calls })),
  finishReason: 'tool_calls',
});

async function readCalls(reply: ChatReply): Promise<FunctionCall[]> {
  const { content, end } = asReply(await outcomeOf(reply));
  expect(end).toBe('stop');
  return content.parts.map(({ functionCall }) => functionCall as FunctionCall);
}

const A = { id: 'a', name: 'read_file', args: { file_path: 'a' } };
const B = { id: 'b', name: 'read_file', args: { file_path: 'b' } };
const piece = (text: string, more: object = {}) => ({ function: { arguments: text }, ...more });
const whole = ({ id, name, args }: typeof A, more: object = {}) => ({ ...toolCall(name, args, id), ...more });
const nameless = ({ name, args }: typeof A, more: object = {}) => ({
  function: { name, arguments: JSON.stringify(args) },
  ...more,
});
const withoutId = ({ name, args }: typeof A) => ({ name, args });

describe('calls are put together', () => {
  const [a1, a2] = ['{"file_pa', 'th":"a"}'];
  const [b1, b2] = ['{"file_path"', ':"b"}'];
  const head = ({ id, name }: typeof A, more: object = {}) => ({
    id,
    type: 'function',
    function: { name, arguments: '' },
    ...more,
  });

  test.each<[string, ChatReply, object[]]>([
    ['as OpenAI sends them', { calls: [whole(A), whole(B)] }, [A, B]],
    [
      'interleaved',
      calls(
        [head(A, { index: 0 })],
        [head(B, { index: 1 })],
        [piece(a1, { index: 0 })],
        [piece(b1, { index: 1 }), piece(a2, { index: 0 })],
        [piece(b2, { index: 1 })],
      ),
      [A, B],
    ],
    [
      'numbered in another order than they came',
      calls([whole(B, { index: 1 })], [whole(A, { index: 0 })]),
      [A, B],
    ],
    [
      'without numbers',
      calls([head(A)], [piece(a1)], [piece(a2)], [head(B)], [piece(b1)], [piece(b2)]),
      [A, B],
    ],
    ['without numbers, in one event', calls([whole(A), whole(B)]), [A, B]],
    [
      'without numbers, in two events of two',
      calls([whole(A), whole(B)], [whole({ ...A, id: 'c' }), whole({ ...B, id: 'd' })]),
      [A, B, { ...A, id: 'c' }, { ...B, id: 'd' }],
    ],
    ['all numbered 0', calls([whole(A, { index: 0 })], [whole(B, { index: 0 })]), [A, B]],
    ['all numbered 0, in one event', calls([whole(A, { index: 0 }), whole(B, { index: 0 })]), [A, B]],
    [
      'all numbered 0, in pieces',
      calls(
        ...[head(A), piece(a1), piece(a2), head(B), piece(b1), piece(b2)].map((one) => [
          { ...one, index: 0 },
        ]),
      ),
      [A, B],
    ],
    [
      'all numbered 0, without ids',
      calls([nameless(A, { index: 0 })], [nameless(B, { index: 0 })]),
      [withoutId(A), withoutId(B)],
    ],
    ['without ids and numbers', calls([nameless(A)], [nameless(B)]), [withoutId(A), withoutId(B)]],
    [
      'with empty ids',
      calls([{ ...whole(A), id: '' }], [{ ...whole(B), id: null }]),
      [withoutId(A), withoutId(B)],
    ],
    [
      'with the same id twice',
      calls([whole(A, { index: 0 })], [whole({ ...B, id: 'a' }, { index: 1 })]),
      [A, { ...B, id: 'a' }],
    ],
    ['with a number for an id', calls([{ ...whole(A), id: 7 }]), [{ ...A, id: '7' }]],
    [
      'with the id in every piece',
      calls([head(A, { index: 0 })], [piece(a1, { index: 0, id: 'a' })], [piece(a2, { index: 0, id: 'a' })]),
      [A],
    ],
    [
      'with the id in every piece, and no number',
      calls([head(A)], [piece(a1, { id: 'a' })], [piece(a2, { id: 'a' })]),
      [A],
    ],
    [
      'with another id in every piece',
      calls([head(A, { index: 0 })], [piece(a1, { index: 0, id: 'x' })], [piece(a2, { index: 0, id: 'y' })]),
      [A],
    ],
    [
      'with the id in a later piece',
      calls([{ index: 0, function: { name: A.name } }], [piece(a1 + a2, { index: 0, id: 'a' })]),
      [A],
    ],
    [
      'with the name in every piece',
      calls(...[a1, a2].map((text) => [{ index: 0, id: 'a', function: { name: A.name, arguments: text } }])),
      [A],
    ],
    [
      'with the name in every piece, and a line break at the end',
      calls(
        ...[a1, a2, '\n'].map((text) => [{ index: 0, id: 'a', function: { name: A.name, arguments: text } }]),
      ),
      [A],
    ],
    [
      'with the name in pieces',
      calls(
        [{ index: 0, id: 'a', function: { name: 'read' } }],
        [{ index: 0, function: { name: '_file' } }],
        [piece(a1 + a2, { index: 0 })],
      ),
      [A],
    ],
    [
      'with the whole call once more at the end',
      calls([head(A, { index: 0 })], [piece(a1 + a2, { index: 0 })], [whole(A, { index: 0 })]),
      [A],
    ],
    [
      'with arguments that are an object',
      calls([{ ...whole(A), function: { name: A.name, arguments: A.args } }]),
      [A],
    ],
    [
      'with null for everything that is not there',
      calls(
        [head(A, { index: 0 })],
        [{ index: 0, id: null, type: null, function: { name: null, arguments: a1 + a2 } }],
      ),
      [A],
    ],
    [
      'by the name that was used before tools',
      {
        deltas: [{ function_call: { name: A.name, arguments: a1 } }, { function_call: { arguments: a2 } }],
        finishReason: 'function_call',
      },
      [withoutId(A)],
    ],
    [
      'from an answer that is not streamed',
      {
        whole: {
          choices: [
            {
              index: 0,
              message: { role: 'assistant', content: null, tool_calls: [whole(A), whole(B)] },
              finish_reason: 'tool_calls',
            },
          ],
        },
      },
      [A, B],
    ],
  ])('%s', async (_, reply, expected) => {
    expect(await readCalls(reply)).toEqual(expected);
  });

  test.each(['', ' \n', '{}', null])('with arguments %j, which are none', async (args) => {
    const reply = calls([{ index: 0, id: 'a', function: { name: 'f', arguments: args } }]);
    expect(await readCalls(reply)).toEqual([{ id: 'a', name: 'f', args: {} }]);
  });

  test('and two of the same kind stay two, even without arguments', async () => {
    const reply = calls(
      ...['a', 'b'].map((id) => [{ index: 0, id, function: { name: 'f', arguments: '' } }]),
    );
    expect(await readCalls(reply)).toEqual(['a', 'b'].map((id) => ({ id, name: 'f', args: {} })));
  });

  test('after the text, whatever the finish reason says', async () => {
    const reply = asReply(await outcomeOf({ text: 'Let me see.', calls: [whole(A)], finishReason: 'stop' }));
    expect(reply).toMatchObject({ end: 'stop', finishReason: 'stop' });
    expect(reply.content.parts).toEqual([{ text: 'Let me see.' }, { functionCall: A }]);
  });
});

describe('arguments', () => {
  test.each([
    '{ "file_path": "a" }',
    '{"n":1.50,"big":12345678901234567890}',
    '{"2":1,"1":2}',
    '{"a":1,"a":2}',
    '{"s":"\\u00e9\\/"}',
    '\n{"a":1}\n',
  ])('%j are kept as the model spelt them', async (args) => {
    const { content } = asReply(await outcomeOf({ calls: [toolCall('f', args)] }));
    expect(content.parts[0]?.['openai']).toEqual({ arguments: args });
    expect(content.parts[0]?.functionCall?.args).toEqual(JSON.parse(args));
  });

  test('that are written the same way anyway are not kept twice', async () => {
    const { content } = asReply(await outcomeOf({ calls: [toolCall('f', { a: ['é', 1, null] })] }));
    expect(Object.keys(content.parts[0] ?? {})).toEqual(['functionCall']);
  });

  test.each([
    ['not JSON', '{"a": 1', 'not valid JSON'],
    ['two objects', '{"a":1}{"b":2}', 'not valid JSON'],
    ['Python', "{'a': True}", 'not valid JSON'],
    ['a list', '[1]', 'not a JSON object'],
    ['a number', '7', 'not a JSON object'],
    ['null', 'null', 'not a JSON object'],
    ['JSON in a string', '"{\\"a\\":1}"', 'not a JSON object'],
    ['nested beyond reason', `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`, 'nested'],
  ])('that are %s make the call unreadable, and no call', async (_, args, fault) => {
    const reply = asReply(await outcomeOf({ calls: [toolCall('f', args)] }));
    expect(reply).toMatchObject({ end: 'malformed_call', finishReason: 'malformed_function_call' });
    expect(reply.finishMessage).toContain(fault);
    expect(reply.content.parts.some((part) => part.functionCall)).toBe(false);
    expect(reply.usage).toBeDefined();
  });

  test('of one call that cannot be read spoil the turn', async () => {
    const reply = asReply(await outcomeOf({ calls: [whole(A), toolCall('g', '{', 'x')] }));
    expect(reply.end).toBe('malformed_call');
    expect(reply.finishMessage).toMatch(/arguments of g/);
  });
});

test.each<[string, ChatReply]>([
  ['a call without a name', calls([{ index: 0, id: 'a', function: { arguments: '{}' } }])],
  ['calls that are announced and missing', { text: 'I will now read it.', finishReason: 'tool_calls' }],
])('%s is malformed', async (_, reply) => {
  expect(asReply(await outcomeOf(reply)).end).toBe('malformed_call');
});

test('unknown fields of a call are kept for its way back', async () => {
  const extra = { extra_content: { google: { thought_signature: 'c2ln' } } };
  const { content } = asReply(await outcomeOf(calls([{ ...whole(A), index: 0, ...extra }])));
  expect(content.parts).toEqual([{ functionCall: A, openai: { call: extra } }]);
});

describe('very many small pieces cost no more than a few large ones', () => {
  test.each([
    ['of long arguments', ['{"text":"', ...Array<string>(300_000).fill('xxxxxxxxxx'), '"}']],
    ['behind arguments that were whole', ['{"text":""}', ...Array<string>(300_000).fill(' ')]],
  ])('%s', (_what, pieces) => {
    const calls = new ToolCalls();
    const [part] = within(10_000, () => {
      for (const text of pieces)
        calls.add([{ index: 0, id: 'a', function: { name: 'write_file', arguments: text } }]);
      return calls.build().parts;
    });
    const text = 'x'.repeat(pieces.filter((piece) => piece.startsWith('x')).length * 10);
    expect(part?.functionCall?.args).toEqual({ text });
  });
});
