import type { ModelKeys } from '../policy/document.js';
import type { Emit, Limits } from '../protocol/event.js';
import { configProblem } from '../protocol/problem.js';
import type { Prices } from '../protocol/price.js';
import type { ModelSettings, Provider } from '../protocol/provider.js';
import { withEstimates } from '../providers/estimate.js';
import { factsOf, familyOf, maxOutputOf, windowOf } from '../providers/model-facts.js';

interface WithModelKeys {
  readonly modelKeys: ModelKeys;
}

/** How a model is asked to answer. Of several policies the shortest answer counts, else the first that says it. */
export function settingsIn(documents: readonly WithModelKeys[], model: string): ModelSettings {
  const said = documents.map(({ modelKeys }) => modelKeys.settings);
  const lengths = said.flatMap(({ max_output_tokens }) => max_output_tokens ?? []);
  return {
    ...Object.assign({}, ...said.toReversed()),
    max_output_tokens: lengths.length > 0 ? Math.min(...lengths) : maxOutputOf(model),
  };
}

/** The context window of a model: of several policies the smallest counts, else what is known about the model. */
export function windowIn(documents: readonly WithModelKeys[], model: string): number {
  const said = documents.flatMap(({ modelKeys }) => modelKeys.contextWindow ?? []);
  return said.length > 0 ? Math.min(...said) : windowOf(model);
}

/**
 * What an answer costs, by the name that the model gave itself. Providers give versions and aliases names of their
 * own: where that one has no price, the model that was asked has.
 */
export function pricesOf(
  documents: readonly WithModelKeys[],
  asked: string,
  answered = asked,
): Prices | undefined {
  const own = (model: string) => documents.map(({ modelKeys }) => ownPrice(modelKeys, model)).find(Boolean);
  return own(answered) ?? own(asked) ?? factsOf(answered)?.prices ?? factsOf(asked)?.prices;
}

function ownPrice({ prices }: ModelKeys, model: string): Prices | undefined {
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
    'the provider does not tell how many tokens it used; they are estimated from the length of the texts, for the limits';
  return withEstimates(provider, cost_usd !== undefined, () =>
    emit({ type: 'error', severity: 'warning', class: 'usage', message }),
  );
}
