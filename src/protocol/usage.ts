/** Tokens of one turn as the provider counted them. What it did not tell is absent, never 0. */
export interface Usage {
  readonly prompt?: number;
  readonly cached?: number;
  readonly output?: number;
  readonly thoughts?: number;
  readonly tool_use?: number;
  readonly total?: number;
  /** The provider did not tell; this is a guess, made because a limit depends on it. */
  readonly estimated?: true;
}

/** Tokens that something besides the turns used, and whose. */
export interface ModelUsage extends Usage {
  readonly model: string;
  /** Absent if the usage or the price is not known. */
  readonly cost_usd?: number;
}
