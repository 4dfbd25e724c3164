import { describe, expect, test } from '@jest/globals';
import { costOf, totalTokens } from '../../src/agent/cost.js';
import type { Prices } from '../../src/protocol/price.js';
import type { Usage } from '../../src/protocol/usage.js';

const M = 1_000_000;
const PRICES: Prices = {
  ...{ input: 1, cached: 0.25, output: 8 },
  long: { above: 200_000, input: 2, cached: 0.5, output: 12 },
};

describe('the cost of a response', () => {
  const cases: [what: string, usage: Usage, cost: number | undefined, prices?: Prices][] = [
    ['input and output', { prompt: 100_000, output: 10_000, total: 110_000 }, 0.1 + 0.08],
    [
      'cached input, which is part of the prompt',
      { prompt: 100_000, cached: 80_000, output: 0 },
      0.02 + 0.02,
    ],
    ['thoughts at the price of output', { prompt: 0, output: 10_000, thoughts: 30_000 }, 0.32],
    [
      'thoughts at a price of their own',
      { prompt: 0, output: 10_000, thoughts: 30_000 },
      0.08 + 0.03,
      { ...PRICES, thoughts: 1 },
    ],
    ['prompts of tools beside the prompt', { prompt: 10_000, tool_use: 5_000, output: 0 }, 0.015],
    ['all kinds at once', { prompt: 1000, cached: 400, output: 50, thoughts: 20, tool_use: 10 }, 0.00127],
    ['a prompt at the threshold', { prompt: 200_000, output: 1000 }, 0.208],
    ['a prompt above it: the whole request', { prompt: 200_001, output: 1000 }, 0.412002],
    ['cached input of a long prompt', { prompt: 400_000, cached: 400_000, output: 0 }, 0.2],
    ['a long prompt where there is one price', { prompt: M, output: M }, 9, { input: 1, output: 8 }],
    [
      'cached input without a price of its own',
      { prompt: M, cached: M, output: 0 },
      1,
      { input: 1, output: 8 },
    ],
    ['an output that is only in the total', { prompt: 1000, total: 2000 }, 0.009],
    ['an output of 0 that was left out', { prompt: 1000, total: 1000 }, 0.001],
    ['tokens of a kind that is not told, as output', { prompt: 1000, output: 10, total: 1020 }, 0.00116],
    ['a total that is less than its parts', { prompt: 1000, output: 10, total: 0 }, 0.00108],
    ['more cached than there is', { prompt: 10, cached: 1000, output: 0 }, 0.00025],
    ['a price of 0', { prompt: M, output: M }, 0, { input: 0, output: 0 }],
    ['no prompt', { output: 10, total: 20 }, undefined],
    ['a prompt and nothing else', { prompt: 10 }, undefined],
    ['nothing', {}, undefined],
  ];
  test.each(cases)('%s', (_what, usage, cost, prices = PRICES) => {
    const charged = costOf(usage, prices);
    if (cost === undefined) expect(charged).toBeUndefined();
    else expect(charged).toBeCloseTo(cost, 9);
  });

  test('is a plain decimal number', () => {
    expect(costOf({ prompt: 3, output: 7 }, { input: 0.1, output: 0.7 })).toBe(0.0000052);
  });
});

describe('the tokens of a response', () => {
  const cases: [Usage, number][] = [
    [{ total: 60 }, 60],
    [{ prompt: 40, cached: 30, output: 10, thoughts: 5, tool_use: 3 }, 58],
    [{ prompt: 40, output: 10, total: 5 }, 50],
    [{}, 0],
  ];
  test.each(cases)('%j are %i', (usage, tokens) => {
    expect(totalTokens(usage)).toBe(tokens);
  });
});
