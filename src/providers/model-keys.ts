import type { Emit } from '../protocol/event.js';
import type { TierChoice } from '../protocol/model-settings.js';
import type { Prices } from '../protocol/price.js';
import { configProblem } from '../protocol/problem.js';
import type { ModelSettings, Provider } from '../protocol/provider.js';
import { withEstimates } from './estimate.js';
import { modelFacts, familyOf, maxOutputOf, windowOf } from './model-facts.js';
import { parseModel, PROVIDERS } from './registry.js';
import { warning } from '../protocol/warning.js';

/** What policies say about models. */
export interface ModelKeys {
  readonly settings: Partial<ModelSettings>;
  /** By name, one table per policy. */
  readonly prices: readonly Readonly<Record<string, Prices>>[];
  readonly contextWindow?: number;
  readonly tierFallback?: 'standard' | undefined;
}

/** How a model should answer: as the policy says, and up to its full length. */
export function settingsIn({ settings }: ModelKeys, model: string): ModelSettings {
  const { tier: _tier, ...own } = settings;
  return { ...own, max_output_tokens: settings.max_output_tokens ?? maxOutputOf(model) };
}

/** The tier that policies ask for. */
export function tierIn({ settings, tierFallback }: ModelKeys): TierChoice {
  return { tier: settings.tier ?? 'standard', fallback: tierFallback };
}

/** Throws a Problem if the provider does not have the tier. */
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
 * What an answer costs, by the model's own name for itself. Providers name versions and aliases in their own way:
 * if that name has no price, the requested model's counts.
 */
export function pricesOf({ prices }: ModelKeys, asked: string, answered = asked): Prices | undefined {
  const tablePrice = (model: string) => prices.map((table) => ownPrice(table, model)).find(Boolean);
  return (
    tablePrice(answered) ?? tablePrice(asked) ?? modelFacts(answered)?.prices ?? modelFacts(asked)?.prices
  );
}

function ownPrice(prices: ModelKeys['prices'][number], model: string): Prices | undefined {
  const family = familyOf(model, Object.keys(prices));
  return family === undefined ? undefined : prices[family];
}

export type SpendingLimits = Readonly<Partial<Record<'tokens' | 'cost_usd', number | undefined>>>;

/** A provider whose answers can be counted, if a limit needs that. */
export function withCountedUsage(
  limits: readonly SpendingLimits[],
  emit: Emit,
): (provider: Provider) => Provider {
  const forCost = limits.some(({ cost_usd }) => cost_usd !== undefined);
  if (!forCost && limits.every(({ tokens }) => tokens === undefined)) return (provider) => provider;
  const message =
    'the provider does not report how many tokens it uses; for the limits, they are estimated from the length of the texts';
  let hasWarned = false;
  const warnOnce = () => {
    if (!hasWarned) emit(warning('usage', message));
    hasWarned = true;
  };
  return (provider) => withEstimates(provider, forCost, warnOnce);
}
