import type { Value } from './forms.js';
import type { Settled } from './settled.js';

/** What is needed to keep hidden files from being read by words that are only known when a line runs. */
export interface ReadGuard {
  /** The environment of commands. */
  readonly variable: (name: string) => string | undefined;
  /** Whether a real path may not be read. */
  readonly hides: (path: string) => boolean;
  /** Nothing outside the workspace may be read. */
  readonly confined: boolean;
  /** What the surrounding script does to the files that are listed. */
  readonly settled?: Settled;
  /** Variables of the surrounding script. */
  readonly outer?: (name: string) => Value;
}
