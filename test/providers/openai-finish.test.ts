import { describe, expect, test } from '@jest/globals';
import { chatEndOf, recordedEnd } from '../../src/providers/finish.js';
import { openAiProviders } from '../helpers/openai-provider.js';
import { chunk, toolCall, type ChatReply } from '../helpers/openai-server.mjs';
import { asReply } from '../helpers/provider.js';

const { outcomeOf } = openAiProviders();

describe('a finish reason', () => {
  test.each([
    ['stop', 'stop'],
    ['length', 'truncated'],
    ['content_filter', 'blocked'],
    ['eos', 'stop'],
    ['end_turn', 'stop'],
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'truncated'],
    ['model_length', 'truncated'],
    ['content_filter: RECITATION', 'blocked'],
    ['function_call_filter: MALFORMED_FUNCTION_CALL', 'malformed_call'],
    ['a_reason_of_tomorrow', 'unknown'],
    ['stopped', 'unknown'],
    ['constructor', 'unknown'],
  ])('%s means %s', async (finishReason, end) => {
    const reply = asReply(await outcomeOf({ text: 'so far', finishReason }));
    expect(reply).toMatchObject({ end, finishReason, content: { parts: [{ text: 'so far' }] } });
  });

  test.each(['tool_calls', 'function_call', 'tool_use', 'stop', 'end_turn'])(
    '%s with calls means that they are to be run',
    async (finishReason) => {
      expect(asReply(await outcomeOf({ calls: [toolCall('f', {})], finishReason })).end).toBe('stop');
    },
  );

  test.each(['length', 'content_filter', 'tired'])('%s with calls means no success', async (finishReason) => {
    const reply = asReply(await outcomeOf({ calls: [toolCall('f', '{"half":')], finishReason }));
    expect(reply.end).not.toBe('stop');
    expect(reply.finishReason).toBe(finishReason);
  });

  test.each<[string, (string | null | number)[], string]>([
    ['that is empty until the end', ['', '', 'stop'], 'stop'],
    ['that comes twice', ['stop', 'stop'], 'stop'],
    ['that is bad and then good', ['length', 'stop'], 'truncated'],
    ['that is good and then bad', ['stop', 'content_filter'], 'blocked'],
    ['that is a number', [null, 7], 'unknown'],
    ['that is blank', [' \n'], 'unknown'],
  ])('%s', async (_, reasons, end) => {
    const events = reasons.map((finish_reason) =>
      chunk([{ index: 0, delta: { content: 'x' }, finish_reason }]),
    );
    expect(asReply(await outcomeOf({ events })).end).toBe(end);
  });

  test('in an event before the last words still counts with them', async () => {
    const events = [
      chunk([{ index: 0, delta: { content: 'a' }, finish_reason: 'stop' }]),
      chunk([{ index: 0, delta: { content: 'b' }, finish_reason: null }]),
    ];
    expect(asReply(await outcomeOf({ events })).content.parts).toEqual([{ text: 'ab' }]);
  });

  test('of either provider is known in a recording', () => {
    const reasons = [
      'STOP',
      'SAFETY',
      'stop',
      'tool_calls',
      'length',
      'malformed_function_call',
      'refusal',
      'x',
    ];
    expect(reasons.map(recordedEnd)).toEqual([
      'stop',
      'blocked',
      'stop',
      'stop',
      'truncated',
      'malformed_call',
      'blocked',
      'unknown',
    ]);
    expect(chatEndOf('')).toBe('unknown');
  });
});

describe('what the model says besides', () => {
  test('its refusal is a block, in its own words', async () => {
    const deltas = [{ refusal: "I'm sorry, " }, { refusal: 'no.' }];
    const reply = asReply(await outcomeOf({ deltas, finishReason: 'stop' }));
    expect(reply).toMatchObject({ end: 'blocked', finishReason: 'refusal', finishMessage: "I'm sorry, no." });
  });

  test.each<[string, object[], object]>([
    [
      'reasoning_content',
      [{ reasoning_content: 'a' }, { reasoning_content: 'b' }],
      { reasoning_content: 'ab' },
    ],
    ['reasoning', [{ reasoning: 'a' }, { reasoning: 'b' }], { reasoning: 'ab' }],
    [
      'both',
      [
        { reasoning_content: 'a', reasoning: 'a' },
        { reasoning_content: 'b', reasoning: 'b' },
      ],
      { reasoning_content: 'ab', reasoning: 'ab' },
    ],
    [
      'details',
      [
        { reasoning: 'a', reasoning_details: [{ type: 'reasoning.text', text: 'a', index: 0 }] },
        {
          reasoning: 'b',
          reasoning_details: [{ type: 'reasoning.text', text: 'b', index: 0, signature: 's' }],
        },
        {
          reasoning_details: [
            { type: 'reasoning.encrypted', data: 'x', index: 1 },
            { type: 'reasoning.encrypted', data: 'y', index: 1 },
          ],
        },
      ],
      {
        reasoning: 'ab',
        reasoning_details: [
          { type: 'reasoning.text', text: 'ab', index: 0, signature: 's' },
          { type: 'reasoning.encrypted', data: 'x', index: 1 },
          { type: 'reasoning.encrypted', data: 'y', index: 1 },
        ],
      },
    ],
  ])('thoughts under %s are told apart from the answer', async (_, deltas, thoughts) => {
    const reply = asReply(
      await outcomeOf({ deltas: [...deltas, { content: 'Yes.' }], finishReason: 'stop' }),
    );
    expect(reply.thoughts).toBe('ab');
    expect(reply.content.parts).toEqual([{ thought: true, openai: { thoughts } }, { text: 'Yes.' }]);
  });

  test('thoughts among the parts of its content are thoughts, too', async () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
      { type: 'text', text: 'Yes.' },
    ];
    const reply = asReply(await outcomeOf({ deltas: [{ content }], finishReason: 'stop' }));
    expect(reply).toMatchObject({ thoughts: 'Hm.', content: { parts: [{ text: 'Yes.' }] } });
  });

  test('nothing at all is an answer without parts', async () => {
    expect(asReply(await outcomeOf({ finishReason: 'stop' })).content.parts).toEqual([]);
  });
});

describe('the usage of a turn', () => {
  const usageFrom = async (reply: ChatReply) => asReply(await outcomeOf({ text: 'x', ...reply })).usage;

  test.each<[string, object, object | undefined]>([
    [
      'as OpenAI tells it',
      { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
      { prompt: 9, output: 3, total: 12 },
    ],
    [
      'with what was cached and thought, which is not output',
      {
        prompt_tokens: 9,
        completion_tokens: 7,
        total_tokens: 16,
        prompt_tokens_details: { cached_tokens: 4, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 5 },
      },
      { prompt: 9, cached: 4, output: 2, thoughts: 5, total: 16 },
    ],
    [
      'with thoughts that are counted beside the output',
      {
        prompt_tokens: 9,
        completion_tokens: 2,
        total_tokens: 16,
        completion_tokens_details: { reasoning_tokens: 5 },
      },
      { prompt: 9, output: 2, thoughts: 5, total: 16 },
    ],
    ['without a total', { prompt_tokens: 9, completion_tokens: 3 }, { prompt: 9, output: 3, total: 12 }],
    ['with just one count', { completion_tokens: 3 }, { output: 3 }],
    [
      'with the cache by another name',
      { prompt_tokens: 9, prompt_cache_hit_tokens: 4 },
      { prompt: 9, cached: 4 },
    ],
    ['in words', { prompt_tokens: 'many', completion_tokens: -1, total_tokens: 1.5 }, undefined],
    ['in null', { prompt_tokens: null, prompt_tokens_details: null }, undefined],
  ])('%s', async (_, said, usage) => {
    expect(await usageFrom({ usage: said })).toEqual(usage);
  });

  test('that is never told is absent, and not zero', async () => {
    expect(asReply(await outcomeOf({ text: 'x', usage: null }))).not.toHaveProperty('usage');
  });

  test('that is told in every event is the last one', async () => {
    const events = [1, 2, 3].map((n) => ({
      ...chunk([{ index: 0, delta: { content: 'x' }, finish_reason: n === 3 ? 'stop' : null }]),
      usage: { prompt_tokens: 10, completion_tokens: n, total_tokens: 10 + n },
    }));
    expect(await usageFrom({ events })).toEqual({ prompt: 10, output: 3, total: 13 });
  });

  test('that is told inside the choice is found there', async () => {
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
    const events = [chunk([{ index: 0, delta: { content: 'x' }, finish_reason: 'stop', usage }])];
    expect(await usageFrom({ events })).toEqual({ prompt: 1, output: 2, total: 3 });
  });

  test('comes with the model that answered, by its own word', async () => {
    expect(asReply(await outcomeOf({ text: 'x' })).model).toBe('scripted');
    const events = [{ choices: [{ delta: { content: 'x' }, finish_reason: 'stop' }], model: '' }];
    expect(asReply(await outcomeOf({ events })).model).toBe('some-model');
  });
});
