import type { FromSchema } from '../../protocol/from-schema.js';
import { THINKING_LEVELS, TIERS, type ModelSettings } from '../../protocol/model-settings.js';
import { policyProblem, type PolicySource } from '../place.js';
import { key } from './row.js';
import { dollars, mapOf, object, oneOf, text, texts, integer } from './schemas.js';

const rates = {
  input: dollars('For a million tokens of input.'),
  cached: dollars('For cached input (the price of input).'),
  output: dollars('For a million tokens of output.'),
  thoughts: dollars('For thoughts (the price of output).'),
};
const PRICES = object(
  'What one model costs, in dollars for a million tokens.',
  {
    ...rates,
    long: object(
      'Prices for requests with a long prompt.',
      { above: integer('From how many prompt tokens these prices apply.', 1), ...rates },
      ['above', 'input', 'output'],
    ),
  },
  ['input', 'output'],
);

const threshold = oneOf(
  ['BLOCK_LOW_AND_ABOVE', 'BLOCK_MEDIUM_AND_ABOVE', 'BLOCK_ONLY_HIGH', 'BLOCK_NONE', 'OFF'],
  'From which probability.',
);
const SAFETY = object('What Gemini blocks.', {
  HARM_CATEGORY_HARASSMENT: threshold,
  HARM_CATEGORY_HATE_SPEECH: threshold,
  HARM_CATEGORY_SEXUALLY_EXPLICIT: threshold,
  HARM_CATEGORY_DANGEROUS_CONTENT: threshold,
  HARM_CATEGORY_CIVIC_INTEGRITY: threshold,
});

const THINKING = object('How much it thinks before it answers: one of these.', {
  budget: { type: 'integer', minimum: -1, description: 'Tokens; 0 for none, -1 for as many as it likes.' },
  level: oneOf(THINKING_LEVELS, 'The same in a word, for models that take one.'),
});

const FIRST = { extend: 'override', combine: 'first' } as const;
const SMALLEST = { extend: 'override', combine: 'smallest' } as const;

const SETTINGS = {
  rows: {
    max_output_tokens: key(
      integer('The longest answer, in tokens (the longest that the model can give).', 1),
      {
        key: 'model.max_output_tokens',
        ...SMALLEST,
      },
    ),
    temperature: key(
      { type: 'number', minimum: 0, maximum: 2, description: 'How freely it chooses its words.' },
      { key: 'model.temperature', ...FIRST },
    ),
    top_p: key(
      {
        type: 'number',
        minimum: 0,
        maximum: 1,
        description: 'How much of the probability mass it chooses from.',
      },
      { key: 'model.top_p', ...FIRST },
    ),
    seed: key(integer('The same seed makes the same answer more likely.', 0, { maximum: 2 ** 31 - 1 }), {
      key: 'model.seed',
      ...FIRST,
    }),
    tier: key(oneOf(TIERS, 'flex (Gemini): half the price, and answers that may take minutes (standard).'), {
      key: 'model.tier',
      ...FIRST,
    }),
    thinking: key(THINKING, { key: 'model.thinking', read: thinkingIn, ...FIRST }),
    safety: key(SAFETY, {
      key: 'model.safety',
      parse: (thresholds) => thresholds as NonNullable<ModelSettings['safety']>,
      extend: 'merge',
      combine: 'first',
    }),
  },
} as const;

/** Which model, how it should answer, and what is known about it here. */
export const MODEL = {
  model: key(text('gemini-…, vertex/…, or openai/….', { examples: ['gemini-2.5-pro'] }), {
    key: 'model.name',
    ...FIRST,
  }),
  fallback: key(
    texts('Models to use instead, in this order, if the first is not available.', {
      examples: [['gemini-2.5-flash']],
    }),
    {
      key: 'model.fallback',
      empty: [],
      // A policy's own entries go before those of what it extends.
      extend: (base: readonly string[], over: readonly string[]) => [...new Set([...over, ...base])],
      combine: 'first',
    },
  ),
  modelKeys: {
    rows: {
      settings: SETTINGS,
      prices: key(
        mapOf(
          PRICES,
          'Prices by name of a model: `input`, `cached`, `output`, in dollars for a million tokens.',
          { examples: [{ 'gemini-2.5-pro': { input: 1.25, cached: 0.125, output: 10 } }] },
        ),
        { key: 'model.prices', empty: {}, extend: 'merge', combine: 'each' },
      ),
      tierFallback: key(
        oneOf(
          ['standard'],
          'Where requests go that the flex tier has rejected three times; without it, they are retried there.',
        ),
        { key: 'model.tier_fallback', ...FIRST },
      ),
      contextWindow: key(
        integer('Tokens that fit into the context window, if that is unknown or should be less.', 1000),
        { key: 'model.context_window', ...SMALLEST },
      ),
    },
  },
} as const;

function thinkingIn(
  thinking: FromSchema<typeof THINKING>,
  source: PolicySource,
): NonNullable<ModelSettings['thinking']> {
  if (Object.keys(thinking).length === 1) return thinking as NonNullable<ModelSettings['thinking']>;
  throw policyProblem(source, ['model', 'thinking'], '`model.thinking` takes one of `budget` and `level`');
}
