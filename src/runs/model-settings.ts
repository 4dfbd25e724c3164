import type { EffectivePolicy } from '../policy/fold.js';
import type { Emit, Limits } from '../protocol/event.js';
import { configProblem } from '../protocol/problem.js';
import type { Prices } from '../protocol/price.js';
import type { ModelSettings, Provider } from '../protocol/provider.js';
import { parseModel } from './model-name.js';
import type { TierChoice } from './settings.js';
import { withEstimates } from '../providers/estimate.js';
import { PROVIDERS } from '../providers/registry.js';
import { factsOf, familyOf, maxOutputOf, windowOf } from '../providers/model-facts.js';

type ModelKeys = EffectivePolicy['modelKeys'];

/** How a model is asked to answer: as the policy says, and as long as it can. */
export function settingsIn({ settings }: ModelKeys, model: string): ModelSettings {
  const { tier: _tier, ...own } = settings;
  return { ...own, max_output_tokens: settings.max_output_tokens ?? maxOutputOf(model) };
}

/** The tier that policies ask for. */
export function tierIn({ settings, tierFallback }: ModelKeys): TierChoice {
  return { tier: settings.tier ?? 'standard', fallback: tierFallback };
}

/** A tier that the provider does not have is no tier that can be counted on. */
export function checkTier({ tier }: TierChoice, name: string): void {
  if (tier === 'standard' || PROVIDERS[parseModel(name).provider].hasTiers) return;
  throw configProblem('tier', `${name} has no ${tier} tier`, {
    hint: 'Gemini models with an API key have it: gemini-….',
  });
}

/** The context window of a model, by the policy, or by what is known about it. */
export function windowIn({ contextWindow }: ModelKeys, model: string): number {
  return contextWindow ?? windowOf(model);
}

/**
 * What an answer costs, by the name that the model gave itself. Providers give versions and aliases names of their
 * own: where that one has no price, the model that was asked has.
 */
export function pricesOf({ prices }: ModelKeys, asked: string, answered = asked): Prices | undefined {
  const own = (model: string) => prices.map((table) => ownPrice(table, model)).find(Boolean);
  return own(answered) ?? own(asked) ?? factsOf(answered)?.prices ?? factsOf(asked)?.prices;
}

function ownPrice(prices: ModelKeys['prices'][number], model: string): Prices | undefined {
  const family = familyOf(model, Object.keys(prices));
  return family === undefined ? undefined : prices[family];
}

/** A limit on what cannot be counted would never be reached. */
export function checkPriced(limits: Limits, model: string, prices: Prices | undefined): void {
  if (limits.cost_usd === undefined || prices) return;
  throw configProblem('unpriced_model', `the cost is limited, and there is no price for ${model}`, {
    hint: `Give it in a policy, in dollars for a million tokens: model: {prices: {${JSON.stringify(model)}: {input: 1.25, cached: 0.125, output: 10}}}.`,
  });
}

/** A provider whose answers can be counted, where a limit needs that. */
export function countable(provider: Provider, { tokens, cost_usd }: Limits, emit: Emit): Provider {
  if (tokens === undefined && cost_usd === undefined) return provider;
  const message =
    'the provider does not report how many tokens it used; for the limits, they are estimated from the length of the texts';
  return withEstimates(provider, cost_usd !== undefined, () =>
    emit({ type: 'error', severity: 'warning', class: 'usage', message }),
  );
}
