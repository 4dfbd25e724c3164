import { describe, expect, test } from '@jest/globals';
import type { Usage } from '../../src/protocol/usage.js';
import type { ModelReply, Provider } from '../../src/protocol/provider.js';
import { withEstimates } from '../../src/providers/estimate.js';
import { asReply, HELLO, send } from '../helpers/provider.js';

function answering(usage: Usage | undefined): { provider: Provider; doubts: () => number } {
  let doubts = 0;
  const reply: ModelReply = {
    type: 'reply',
    content: { role: 'model', parts: [{ text: 'x'.repeat(400) }] },
    end: 'stop',
    finishReason: 'STOP',
    model: 'm',
    ...(usage && { usage }),
  };
  const plain: Provider = { name: 'p', model: 'm', auth: 'none', send: async () => reply, close: () => {} };
  return { provider: withEstimates(plain, true, () => doubts++), doubts: () => doubts };
}

describe('usage that the provider', () => {
  test.each<[Usage]>([
    [{ prompt: 1, output: 2, total: 3 }],
    [{ prompt: 1, total: 1 }],
    [{ prompt: 1, output: 0 }],
  ])('tells is left as it is: %j', async (usage) => {
    const { provider, doubts } = answering(usage);
    expect(asReply(await send(provider)).usage).toEqual(usage);
    expect(doubts()).toBe(0);
  });

  test('does not tell is guessed from the length of the texts, and marked', async () => {
    const { provider, doubts } = answering(undefined);
    const long = { role: 'user', parts: [{ text: 'y'.repeat(4000) }] } as const;
    const {
      prompt = 0,
      output = 0,
      estimated,
    } = asReply(await send(provider, { contents: [HELLO, long] })).usage ?? {};
    expect([prompt > 1000 && prompt < 1100, output > 100 && output < 120, estimated]).toEqual([
      true,
      true,
      true,
    ]);
    await send(provider);
    expect(doubts()).toBe(1);
  });

  test('tells in part is completed', async () => {
    const usage = asReply(await send(answering({ total: 5000, thoughts: 7 }).provider)).usage;
    expect(usage).toMatchObject({ total: 5000, thoughts: 7, estimated: true });
    expect(usage?.prompt).toBeGreaterThan(0);
  });
});
