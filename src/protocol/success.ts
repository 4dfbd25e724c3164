/** What must be true at the end, besides that the model says so. */
export interface SuccessConditions {
  /** Command lines that must end with 0. */
  readonly verify: readonly string[];
  readonly require_changes: boolean;
  /** How often the model may mend what is missing. */
  readonly repairs: number;
}

/** Somewhere in a file, and what was said about it. */
export interface FilePlace {
  readonly file: string;
  readonly line: number;
  readonly column?: number;
  readonly message: string;
}
