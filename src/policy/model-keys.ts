import type { ModelSettings } from '../protocol/provider.js';
import type { ModelKeys } from './document.js';
import { policyProblem, type PolicySource } from './source.js';

/** The keys of `model` that are not about which one it is. */
export function modelKeysIn(source: PolicySource): ModelKeys {
  const { name: _name, fallback: _fallback, prices, context_window, ...settings } = source.value.model ?? {};
  if (settings.thinking && Object.keys(settings.thinking).length !== 1)
    throw policyProblem(source, ['model', 'thinking'], '`model.thinking` takes one of `budget` and `level`');
  return {
    settings: settings as Partial<ModelSettings>,
    prices: prices ?? {},
    ...(context_window !== undefined && { contextWindow: context_window }),
  };
}

/** Single values override; prices and thresholds are told one by one. */
export function layerModelKeys(base: ModelKeys, over: ModelKeys): ModelKeys {
  const safety = { ...base.settings.safety, ...over.settings.safety };
  return {
    ...base,
    ...over,
    settings: {
      ...base.settings,
      ...over.settings,
      ...(Object.keys(safety).length > 0 && { safety }),
    },
    prices: { ...base.prices, ...over.prices },
  };
}
