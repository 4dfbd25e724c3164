/** Dollars for a million tokens of each kind. */
export interface Rates {
  readonly input: number;
  /** Of input that came from a cache; without it, that of input. */
  readonly cached?: number;
  readonly output: number;
  /** Of thoughts; without it, that of output. */
  readonly thoughts?: number;
}

/** What a model costs. */
export interface Prices extends Rates {
  /** What holds instead, for the whole request, once the prompt has more than `above` tokens. */
  readonly long?: Rates & { readonly above: number };
}
