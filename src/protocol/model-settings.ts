import { amount, count, mapOf, number, object, oneOf, shape, text, type TypeOf } from './shape.js';

export const THINKING_LEVELS = ['minimal', 'low', 'medium', 'high'] as const;
type ThinkingLevel = (typeof THINKING_LEVELS)[number];

/** How fast a provider answers: `flex` waits for room, and costs half. */
export const TIERS = ['standard', 'flex'] as const;
export type Tier = (typeof TIERS)[number];

/** The service tier of the model, and the one for what it sheds. */
export interface TierChoice {
  readonly tier: Tier;
  readonly fallback?: 'standard' | undefined;
}

/** How a model should answer, in every request. Absent fields are left to the provider. */
export const MODEL_SETTINGS = object({
  // Always sent: a provider's own default may be far below what the model can do.
  max_output_tokens: count,
  'temperature?': amount,
  'top_p?': amount,
  'seed?': count,
  // Tokens (0: none, -1: as many as the model likes), or a word.
  'thinking?': shape<{ readonly budget: number } | { readonly level: ThinkingLevel }>(
    object({ 'budget?': number, 'level?': oneOf(THINKING_LEVELS) }),
    'none',
  ),
  // Absent if the provider has no tiers.
  'tier?': oneOf(TIERS),
  // Thresholds by category, in the provider's own words.
  'safety?': mapOf(text),
});
export type ModelSettings = TypeOf<typeof MODEL_SETTINGS>;
