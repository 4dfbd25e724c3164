import { describe, expect, test } from '@jest/globals';
import type { Content, Part } from '../../src/protocol/content.js';
import { messagesOf } from '../../src/providers/openai/messages.js';
import { Random } from '../helpers/random.js';

interface Message {
  readonly role: string;
  readonly content: unknown;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string }[];
}

/** A whole history as messages, the way a request is written. */
function chat(history: readonly Content[], thoughts = true): Message[] {
  return history.flatMap((content, i) =>
    messagesOf(content, { before: history[i - 1], after: history[i + 1] }, thoughts),
  ) as unknown as Message[];
}

const user = (...parts: Part[]): Content => ({ role: 'user', parts });
const model = (...parts: Part[]): Content => ({ role: 'model', parts });
const call = (name: string, args: object, id?: string): Part => ({
  functionCall: { ...(id !== undefined && { id }), name, args: args as Record<string, unknown> },
});
const answer = (name: string, response: object, id?: string): Part => ({
  functionResponse: { ...(id !== undefined && { id }), name, response: response as Record<string, unknown> },
});
const media = (mimeType: string, data = 'AAAA'): Part => ({ inlineData: { mimeType, data } });
const toolCall = (id: string, name: string, args: string) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});

describe('what a user says', () => {
  test.each<[string, Part[], unknown]>([
    ['as plain text', [{ text: 'Hi.' }], 'Hi.'],
    ['in several texts, as one with blank lines between', [{ text: 'a' }, { text: 'b' }], 'a\n\nb'],
    [
      'with a picture',
      [{ text: 'Look:' }, media('image/png')],
      [
        { type: 'text', text: 'Look:' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
      ],
    ],
    [
      'with a PDF',
      [media('application/pdf')],
      [{ type: 'file', file: { filename: 'attachment.pdf', file_data: 'data:application/pdf;base64,AAAA' } }],
    ],
    [
      'with WAV',
      [media('audio/wav')],
      [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }],
    ],
    [
      'with MP3',
      [media('audio/mpeg')],
      [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } }],
    ],
  ])('goes out %s', (_, parts, content) => {
    expect(chat([user(...parts)])).toEqual([{ role: 'user', content }]);
  });

  test.each(['video/mp4', 'audio/flac', 'constructor'])('with %s cannot go out', (type) => {
    expect(() => chat([user({ text: 'x' }, media(type))])).toThrow(type);
  });
});

describe('what the model said', () => {
  test('keeps text, calls, ids and the spelling of arguments', () => {
    const spelt = { ...call('b', { x: 1.5 }, 'id-b'), openai: { arguments: '{ "x": 1.50 }' } };
    const history = [
      user({ text: 'Go.' }),
      model({ text: 'On it.' }, call('a', { p: 'é' }, 'id-a'), spelt),
      user(answer('a', { output: 'A' }, 'id-a'), answer('b', { error: 'no', type: 'unknown' }, 'id-b')),
    ];
    expect(chat(history).slice(1)).toEqual([
      {
        role: 'assistant',
        content: 'On it.',
        tool_calls: [toolCall('id-a', 'a', '{"p":"é"}'), toolCall('id-b', 'b', '{ "x": 1.50 }')],
      },
      { role: 'tool', tool_call_id: 'id-a', content: 'A' },
      { role: 'tool', tool_call_id: 'id-b', content: '{"error":"no","type":"unknown"}' },
    ]);
  });

  test('has no content if it is calls only, and text if it has no calls', () => {
    const history = [user({ text: 'x' }), model(call('a', {}, '1')), user(answer('a', { output: '' }, '1'))];
    expect(chat(history)[1]?.content).toBeNull();
    expect(chat([model({ text: 'Done.' })])).toEqual([{ role: 'assistant', content: 'Done.' }]);
  });

  test('in thoughts goes back under its own name, and is never text', () => {
    const thoughts = { reasoning_content: 'Hm.' };
    const turn = model(
      { thought: true, openai: { thoughts } },
      { text: 'plain', thought: true },
      { text: 'Yes.' },
    );
    expect(chat([turn])).toEqual([{ role: 'assistant', content: 'Yes.', reasoning_content: 'Hm.' }]);
    expect(chat([turn], false)).toEqual([{ role: 'assistant', content: 'Yes.' }]);
  });

  test('keeps fields of a call that are not known here, which cannot change what it is', () => {
    const odd = {
      ...call('a', {}, '1'),
      openai: { call: { extra_content: { google: { thought_signature: 'c2ln' } }, id: 'forged' } },
    };
    const [, message] = chat([user({ text: 'x' }), model(odd), user(answer('a', { output: '' }, '1'))]);
    expect(message?.tool_calls).toEqual([
      { ...toolCall('1', 'a', '{}'), extra_content: { google: { thought_signature: 'c2ln' } } },
    ]);
  });
});

describe('what tools answered', () => {
  const asked = [user({ text: 'x' }), model(call('a', {}, '1'))];

  test('as an object is JSON', () => {
    const [message] = chat([...asked, user(answer('a', { output: { n: 1 } }, '1'))]).slice(2);
    expect(message?.content).toBe('{"n":1}');
  });

  test('with media has them in a message of the user behind all answers', () => {
    const history = [
      ...asked,
      user(answer('a', { output: 'Attached.' }, '1'), media('image/png'), media('audio/ogg')),
    ];
    expect(chat(history).slice(2)).toEqual([
      { role: 'tool', tool_call_id: '1', content: 'Attached.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: expect.stringContaining('Attached') },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          { type: 'text', text: expect.stringContaining('audio/ogg') },
        ],
      },
    ]);
  });

  test('with a word of ours has it in a message of the user', () => {
    const history = [...asked, user(answer('a', { output: '' }, '1'), { text: 'Wrap up.' })];
    expect(chat(history).at(-1)).toEqual({ role: 'user', content: 'Wrap up.' });
  });
});

describe('calls and their answers', () => {
  test('find each other by the id of the answer, where the call has none', () => {
    const history = [
      user({ text: 'x' }),
      model(call('a', {}), call('a', {}, '')),
      user(answer('a', { output: '1' }, 'call_1'), answer('a', { output: '2' }, 'call_2')),
    ];
    const [, assistant, first, second] = chat(history);
    expect(assistant?.tool_calls?.map(({ id }) => id)).toEqual(['call_1', 'call_2']);
    expect([first?.tool_call_id, second?.tool_call_id]).toEqual(['call_1', 'call_2']);
  });

  test('stay pairs in every history that can be', () => {
    const random = new Random(7);
    for (let round = 0; round < 300; round++) {
      const history: Content[] = [user({ text: 'Go.' })];
      for (let turn = random.below(6); turn >= 0; turn--) {
        const calls = random.list(1 + random.below(4), () =>
          call(
            `tool_${random.below(3)}`,
            { n: random.below(99) },
            random.pick([undefined, '', 'x', 'y', 'x_1', 'call_0']),
          ),
        );
        const answers = calls.map(({ functionCall }, i) =>
          answer(
            functionCall?.name as string,
            { output: `${turn}.${i}` },
            functionCall?.id || `call_${random.below(3)}`,
          ),
        );
        const text = random.chance(0.5) ? [{ text: 'Hm.' }] : [];
        const notice = random.chance(0.2) ? [{ text: 'Hurry.' }] : [];
        history.push(model(...text, ...calls), user(...answers, ...notice));
      }
      expectPairs(chat(history), history);
    }
  });
});

/** Each call is followed by its answer, in order, before anything else is said; and none is lost. */
function expectPairs(messages: readonly Message[], history: readonly Content[]): void {
  const outputs: unknown[] = [];
  for (const [i, message] of messages.entries()) {
    if (message.role !== 'assistant') continue;
    const ids = (message.tool_calls ?? []).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const answers = messages.slice(i + 1, i + 1 + ids.length);
    expect(answers.map(({ role }) => role)).toEqual(ids.map(() => 'tool'));
    expect(answers.map((one) => one.tool_call_id)).toEqual(ids);
    outputs.push(...answers.map((one) => one.content));
  }
  const expected = history.flatMap(({ parts }) =>
    parts.flatMap(({ functionResponse }) => (functionResponse ? [functionResponse.response['output']] : [])),
  );
  expect(outputs).toEqual(expected);
}
