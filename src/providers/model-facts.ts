import type { Prices } from '../protocol/price.js';
import { bareName } from './registry.js';

/** What is known about a model. */
export interface ModelFacts {
  /** Its context window, in tokens. */
  readonly window: number;
  /** The longest answer it can give, in tokens. */
  readonly maxOutput: number;
  /** Absent if no price is known: a limit on cost then needs one from the policy. */
  readonly prices?: Prices;
}

/** When the figures below were taken from the providers' price lists: standard tier, text. */
export const FACTS_DATE = '2026-09-30';

const gemini = (prices?: Prices): ModelFacts => ({
  window: 1_048_576,
  maxOutput: 65_536,
  ...(prices && { prices }),
});
const gpt = (window: number, maxOutput: number, prices?: Prices): ModelFacts => ({
  window,
  maxOutput,
  ...(prices && { prices }),
});

const GEMINI_3_PRO: Prices = {
  ...{ input: 2, cached: 0.2, output: 12 },
  long: { above: 200_000, input: 4, cached: 0.4, output: 18 },
};
// The list price. Google charges half of it until the end of 2026: a limit on cost errs on the safe side.
const GEMINI_36_FLASH: Prices = { input: 1.5, cached: 0.15, output: 7.5 };

/** Families of models by name. */
export const MODEL_FACTS: Readonly<Record<string, ModelFacts>> = {
  'gemini-2.5-pro': gemini({
    ...{ input: 1.25, cached: 0.125, output: 10 },
    long: { above: 200_000, input: 2.5, cached: 0.25, output: 15 },
  }),
  'gemini-2.5-flash': gemini({ input: 0.3, cached: 0.03, output: 2.5 }),
  'gemini-2.5-flash-lite': gemini({ input: 0.1, cached: 0.01, output: 0.4 }),
  'gemini-3-pro': gemini(GEMINI_3_PRO),
  'gemini-3-flash': gemini({ input: 0.5, cached: 0.05, output: 3 }),
  'gemini-3.1-pro': gemini(GEMINI_3_PRO),
  'gemini-3.1-flash-lite': gemini({ input: 0.25, cached: 0.025, output: 1.5 }),
  'gemini-3.5-flash': gemini({ input: 1.5, cached: 0.15, output: 9 }),
  'gemini-3.5-flash-lite': gemini({ input: 0.3, cached: 0.03, output: 2.5 }),
  'gemini-3.6-flash': gemini(GEMINI_36_FLASH),
  'gemini-3.7-flash': gemini(GEMINI_36_FLASH),
  'gemini-3.8-flash': gemini(GEMINI_36_FLASH),
  // `-latest` becomes another model every few months, at another price.
  'gemini-pro': gemini(),
  'gemini-flash': gemini(),
  'gemini-flash-lite': gemini(),
  'gpt-4o': gpt(128_000, 16_384, { input: 2.5, cached: 1.25, output: 10 }),
  'gpt-4o-mini': gpt(128_000, 16_384, { input: 0.15, cached: 0.075, output: 0.6 }),
  'gpt-4.1': gpt(1_047_576, 32_768, { input: 2, cached: 0.5, output: 8 }),
  'gpt-4.1-mini': gpt(1_047_576, 32_768, { input: 0.4, cached: 0.1, output: 1.6 }),
  'gpt-4.1-nano': gpt(1_047_576, 32_768, { input: 0.1, cached: 0.025, output: 0.4 }),
  o3: gpt(200_000, 100_000, { input: 2, cached: 0.5, output: 8 }),
  'o4-mini': gpt(200_000, 100_000, { input: 1.1, cached: 0.275, output: 4.4 }),
  'gpt-5': gpt(400_000, 128_000, { input: 1.25, cached: 0.125, output: 10 }),
  'gpt-5-mini': gpt(400_000, 128_000, { input: 0.25, cached: 0.025, output: 2 }),
  'gpt-5-nano': gpt(400_000, 128_000, { input: 0.05, cached: 0.005, output: 0.4 }),
  'gpt-5.1': gpt(400_000, 128_000, { input: 1.25, cached: 0.125, output: 10 }),
  'gpt-5.2': gpt(400_000, 128_000, { input: 1.75, cached: 0.175, output: 14 }),
  'gpt-5.4': gpt(1_050_000, 128_000, {
    ...{ input: 2.5, cached: 0.25, output: 15 },
    long: { above: 272_000, input: 5, cached: 0.5, output: 22.5 },
  }),
  'gpt-5.4-mini': gpt(400_000, 128_000, { input: 0.75, cached: 0.075, output: 4.5 }),
  'gpt-5.5': gpt(1_050_000, 128_000, {
    ...{ input: 5, cached: 0.5, output: 30 },
    long: { above: 272_000, input: 10, cached: 1, output: 45 },
  }),
  // From here on writing to the cache costs more than input, and usage does not say how much was written.
  'gpt-5.6': gpt(1_050_000, 128_000),
  'gpt-5.6-sol': gpt(1_050_000, 128_000),
  'gpt-6-sol': gpt(1_050_000, 128_000),
  'gpt-6-luna': gpt(1_050_000, 128_000),
  'gpt-6.1-sol': gpt(1_050_000, 128_000),
};

const families = new Map<string, string | undefined>();

/** What is known about a model, under any provider prefix and version; undefined if nothing is. */
export function modelFacts(model: string): ModelFacts | undefined {
  // Called several times in every turn.
  if (!families.has(model)) families.set(model, familyOf(model, Object.keys(MODEL_FACTS)));
  const family = families.get(model);
  return family === undefined ? undefined : MODEL_FACTS[family];
}

/** The default context window: Gemini's have been a million tokens for years, for others less is safe. */
export function windowOf(model: string): number {
  return modelFacts(model)?.window ?? (bareName(model).startsWith('gemini-') ? 1_048_576 : 128_000);
}

/** The default for the longest answer: as long as the model can. */
export function maxOutputOf(model: string): number {
  const known = modelFacts(model)?.maxOutput;
  return known ?? (/^gemini-(2\.5|[3-9]|\d\d)/.test(bareName(model)) ? 65_536 : 8192);
}

/** A date, a number or a stage after the name of a family; anything else makes it another model. */
const VERSION = /^(-(preview|exp|latest|\d{2,8}))*$/;

/** Which of several names a model is a version of: `gemini-2.5-pro-preview-06-05` is a `gemini-2.5-pro`. */
export function familyOf(model: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const wanted = bareName(model);
  const isFamily = (name: string) => wanted.startsWith(name) && VERSION.test(wanted.slice(name.length));
  const families = names.filter((name) => isFamily(bareName(name)));
  return families.toSorted((a, b) => bareName(b).length - bareName(a).length)[0];
}
