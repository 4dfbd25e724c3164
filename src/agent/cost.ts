import type { Limits } from '../protocol/event.js';
import type { Prices } from '../protocol/price.js';
import { configProblem } from '../protocol/problem.js';
import type { Usage } from '../protocol/usage.js';
import { roundDollars } from '../lib/money.js';

/** The flex tier's share of the standard price. */
const FLEX_SHARE = 0.5;

/**
 * What a response cost, in dollars; undefined if its usage does not say enough. The prompt includes cached tokens;
 * thoughts and the prompts of a provider's own tools are counted separately, and `total` is the sum of all.
 */
export function costOf(usage: Usage, prices: Prices): number | undefined {
  const { prompt, cached = 0, thoughts = 0, tool_use = 0, total } = usage;
  if (prompt === undefined || (usage.output === undefined && total === undefined)) return undefined;
  const { output = 0 } = usage;
  // Some providers leave out counts of 0, or count some kinds only in the total: what is missing is output.
  const untold = Math.max(0, (total ?? 0) - prompt - output - thoughts - tool_use);
  const rates = prices.long && prompt > prices.long.above ? prices.long : prices;
  const millionths =
    (Math.max(0, prompt - cached) + tool_use) * rates.input +
    cached * (rates.cached ?? rates.input) +
    (output + untold) * rates.output +
    thoughts * (rates.thoughts ?? rates.output);
  return roundDollars((millionths * (usage.tier === 'flex' ? FLEX_SHARE : 1)) / 1_000_000);
}

/** All tokens of a response, however the provider reported them. */
export function totalTokens({
  prompt = 0,
  output = 0,
  thoughts = 0,
  tool_use = 0,
  total = 0,
}: Usage): number {
  return Math.max(total, prompt + output + thoughts + tool_use);
}

/** A limit on what cannot be counted would never be reached. */
export function checkPriced(limits: Limits, model: string, prices: Prices | undefined): void {
  if (limits.cost_usd === undefined || prices) return;
  throw configProblem('unpriced_model', `the cost is limited, but there is no price for ${model}`, {
    hint: `Give it in a policy, in dollars for a million tokens: model: {prices: {${JSON.stringify(model)}: {input: 1.25, cached: 0.125, output: 10}}}.`,
  });
}
