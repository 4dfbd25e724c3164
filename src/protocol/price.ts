/** Dollars per million tokens of each kind. */
export interface Rates {
  readonly input: number;
  /** For input from a cache; by default that of input. */
  readonly cached?: number;
  readonly output: number;
  /** For thoughts; by default that of output. */
  readonly thoughts?: number;
}

/** What a model costs. */
export interface Prices extends Rates {
  /** The prices of the whole request once the prompt has more than `above` tokens. */
  readonly long?: Rates & { readonly above: number };
}
