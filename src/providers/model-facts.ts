export interface ModelFacts {
  /** Tokens that it takes. */
  readonly window: number;
}

const WINDOWS: readonly (readonly [RegExp, number])[] = [[/^gemini-/, 1_048_576]];

/** What is known about a model, by its name. */
export function factsOf(model: string): ModelFacts | undefined {
  const known = WINDOWS.find(([name]) => name.test(model));
  return known && { window: known[1] };
}
