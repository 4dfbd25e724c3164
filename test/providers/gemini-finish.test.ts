import { describe, expect, test } from '@jest/globals';
import { replyEnd } from '../../src/providers/finish.js';
import { asFailure, asReply, providers } from '../helpers/provider.js';
import { text } from '../helpers/gemini-server.mjs';

const { outcomeOf } = providers();

describe('a finish reason', () => {
  test.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'truncated'],
    ['MALFORMED_FUNCTION_CALL', 'malformed_call'],
    ['UNEXPECTED_TOOL_CALL', 'unexpected_call'],
    ['SAFETY', 'blocked'],
    ['RECITATION', 'blocked'],
    ['BLOCKLIST', 'blocked'],
    ['PROHIBITED_CONTENT', 'blocked'],
    ['SPII', 'blocked'],
    ['LANGUAGE', 'blocked'],
    ['IMAGE_SAFETY', 'blocked'],
    ['OTHER', 'unknown'],
    ['FINISH_REASON_UNSPECIFIED', 'unknown'],
    ['A_REASON_OF_TOMORROW', 'unknown'],
    ['stop', 'unknown'],
  ])('%s means %s', async (finishReason, end) => {
    const reply = asReply(await outcomeOf({ parts: [text('so far')], finishReason }));
    expect(reply).toMatchObject({ end, finishReason, content: { role: 'model', parts: [text('so far')] } });
  });

  test.each(['constructor', 'toString', '__proto__'])('named %s is no more known than any other', (name) => {
    expect(replyEnd(name)).toBe('unknown');
  });

  test('comes with what the API says about it', async () => {
    const reply = asReply(
      await outcomeOf({ finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'Malformed call: f(' }),
    );
    expect(reply.finishMessage).toBe('Malformed call: f(');
  });

  test('in an event without content still ends the answer before it', async () => {
    const reply = asReply(await outcomeOf({ chunks: [[text('whole')], []] }));
    expect(reply).toMatchObject({ end: 'stop', content: { parts: [text('whole')] } });
  });

  test('that never comes means that the answer is not whole', async () => {
    const failure = asFailure(await outcomeOf({ parts: [text('half an ans')], finishReason: null }));
    expect(failure).toEqual({
      type: 'failure',
      class: 'unavailable',
      retryable: true,
      message: 'the stream ended before the answer was complete (no finish reason)',
      usage: { prompt: 100, output: 10, total: 110 },
    });
  });
});

describe('a prompt that was blocked', () => {
  test.each(['SAFETY', 'OTHER', 'PROHIBITED_CONTENT', 'JAILBREAK', 'A_REASON_OF_TOMORROW'])(
    'for %s is blocked, with no content',
    async (blockReason) => {
      const reply = asReply(await outcomeOf({ promptFeedback: { blockReason } }));
      expect(reply).toMatchObject({ end: 'blocked', finishReason: blockReason, content: { parts: [] } });
    },
  );

  test('says why, if the API does', async () => {
    const promptFeedback = { blockReason: 'SAFETY', blockReasonMessage: 'The prompt is unsafe.' };
    expect(asReply(await outcomeOf({ promptFeedback })).finishMessage).toBe('The prompt is unsafe.');
  });

  test('is not taken for one because ratings came along', async () => {
    const event = {
      promptFeedback: { safetyRatings: [] },
      candidates: [{ content: { role: 'model', parts: [text('fine')] }, finishReason: 'STOP' }],
    };
    expect(asReply(await outcomeOf({ raw: `data: ${JSON.stringify(event)}\n\n` })).end).toBe('stop');
  });
});

describe('the usage of a turn', () => {
  const stream = (...usages: (object | undefined)[]) => ({
    raw: usages
      .map((usageMetadata, i) => {
        const candidate = {
          content: { role: 'model', parts: [text('x')] },
          ...(i === usages.length - 1 && { finishReason: 'STOP' }),
        };
        return `data: ${JSON.stringify({ candidates: [candidate], usageMetadata })}\n\n`;
      })
      .join(''),
  });

  test('has every count under its own name', async () => {
    const usage = {
      promptTokenCount: 1,
      cachedContentTokenCount: 2,
      candidatesTokenCount: 3,
      thoughtsTokenCount: 4,
      toolUsePromptTokenCount: 5,
      totalTokenCount: 15,
    };
    const reply = asReply(await outcomeOf({ parts: [text('x')], usage }));
    expect(reply.usage).toEqual({ prompt: 1, cached: 2, output: 3, thoughts: 4, tool_use: 5, total: 15 });
  });

  test('is the last word on each count, and forgets none', async () => {
    const reply = asReply(
      await outcomeOf(
        stream(
          { promptTokenCount: 10, cachedContentTokenCount: 4, totalTokenCount: 10 },
          { promptTokenCount: 10, candidatesTokenCount: 1, totalTokenCount: 11 },
          { candidatesTokenCount: 7, totalTokenCount: 17 },
        ),
      ),
    );
    expect(reply.usage).toEqual({ prompt: 10, cached: 4, output: 7, total: 17 });
  });

  test('that came with an earlier event than the last is kept', async () => {
    expect(asReply(await outcomeOf(stream({ totalTokenCount: 3 }, undefined))).usage).toEqual({ total: 3 });
  });

  test('is absent if the API does not tell it, and not zero', async () => {
    const silent = asReply(await outcomeOf({ parts: [text('x')], usage: null }));
    expect('usage' in silent).toBe(false);
    const partial = asReply(
      await outcomeOf({ parts: [text('x')], usage: { promptTokenCount: 0, trafficType: 'ON_DEMAND' } }),
    );
    expect(partial.usage).toEqual({ prompt: 0 });
  });

  test('comes with the model that answered, by its own word', async () => {
    expect(asReply(await outcomeOf({ parts: [text('x')] })).model).toBe('gemini-scripted');
    expect(asReply(await outcomeOf(stream(undefined))).model).toBe('gemini-test');
  });
});
