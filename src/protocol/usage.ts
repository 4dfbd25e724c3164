import { amount, count, name, object, only, type TypeOf } from './shape.js';

const TOKENS = {
  'prompt?': count,
  'cached?': count,
  'output?': count,
  'thoughts?': count,
  'tool_use?': count,
  'total?': count,
  // The tier that answered, if not the standard one.
  'tier?': only('flex'),
  // The provider did not say; this is a guess, made because a limit depends on it.
  'estimated?': only(true),
};

/** Tokens of one turn as the provider counted them. What it did not report is absent, never 0. */
export const USAGE = object(TOKENS);
export type Usage = TypeOf<typeof USAGE>;

/** Tokens used outside the turns, and by which model. The cost is absent if the usage or the price is not known. */
export const MODEL_USAGE = object({ model: name, 'cost_usd?': amount, ...TOKENS });
export type ModelUsage = TypeOf<typeof MODEL_USAGE>;
