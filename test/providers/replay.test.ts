import { describe, expect, test } from '@jest/globals';
import type { TurnEvent } from '../../src/protocol/event.js';
import { createReplayProvider } from '../../src/providers/replay.js';
import { asFailure, asReply, send } from '../helpers/provider.js';

function turn(index: number, more: Partial<TurnEvent> = {}): TurnEvent {
  return {
    type: 'turn',
    index,
    model: 'gemini-recorded',
    finish_reason: 'STOP',
    latency_ms: 1,
    content: { role: 'model', parts: [{ text: `turn ${index}`, thoughtSignature: 'c2ln', novelty: 1 }] },
    ...more,
  };
}

describe('a recording', () => {
  test('is said again turn by turn, exactly', async () => {
    const turns = [turn(0, { usage: { prompt: 1, total: 2 } }), turn(1, { model: 'gemini-other' })];
    const provider = createReplayProvider(turns, 'gemini-recorded');
    expect(asReply(await send(provider))).toEqual({
      type: 'reply',
      content: turns[0]?.content,
      end: 'stop',
      finishReason: 'STOP',
      model: 'gemini-recorded',
      usage: { prompt: 1, total: 2 },
    });
    const second = asReply(await send(provider));
    expect(second).toMatchObject({ content: turns[1]?.content, model: 'gemini-other' });
    expect('usage' in second).toBe(false);
  });

  test('that is used up is a failure which no retry mends', async () => {
    const provider = createReplayProvider([turn(0)], 'm');
    await send(provider);
    for (let again = 0; again < 2; again++) {
      expect(asFailure(await send(provider))).toMatchObject({ class: 'recording', retryable: false });
    }
  });

  test.each([
    ['MAX_TOKENS', 'truncated'],
    ['SAFETY', 'blocked'],
    ['MALFORMED_FUNCTION_CALL', 'malformed_call'],
    ['SOMETHING_ELSE', 'unknown'],
  ])('of a turn that ended with %s ends the same way', async (finish_reason, end) => {
    const provider = createReplayProvider([turn(0, { finish_reason })], 'm');
    expect(asReply(await send(provider))).toMatchObject({ end, finishReason: finish_reason });
  });

  test('needs no key, and says so', () => {
    expect(createReplayProvider([], 'm')).toMatchObject({ name: 'replay', model: 'm', auth: 'none' });
  });
});
