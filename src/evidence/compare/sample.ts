/** What is counted of each task, besides whether it passed. All are better if they are lower. */
export const FIGURES = ['cost_usd', 'tokens', 'turns', 'duration_ms', 'tool_calls', 'denials'] as const;
export type Figure = (typeof FIGURES)[number];

/** What came of one task. */
export interface Sample {
  /** Tasks of the two sides with the same key are compared. */
  readonly key: string;
  readonly name: string;
  /** How it ended: a status of runs, or that it has not ended. */
  readonly status: string;
  /** Undefined if it has not ended. */
  readonly passed: boolean | undefined;
  /** Its runs that have ended: more than one if it was repeated. */
  readonly runs: { readonly passed: number; readonly failed: number };
  /** Per run. What is unknown is absent. */
  readonly figures: Readonly<Partial<Record<Figure, number>>>;
  /** Calls per run, by tool. Absent if they are not known. */
  readonly tools?: Readonly<Record<string, number>>;
}

/** A task that has ended on both sides. */
export interface Pair {
  readonly a: Sample;
  readonly b: Sample;
}

/** The average of several runs of one task. */
export function averageOf(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  // An average with a gap would look like less than was spent.
  if (known.length < values.length || known.length === 0) return undefined;
  return known.reduce((sum, value) => sum + value, 0) / known.length;
}
