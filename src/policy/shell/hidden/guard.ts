import type { PossibleTexts } from './possible-texts.js';
import type { FileChanges } from './file-changes.js';

/** What is needed to keep hidden files from being read by words that are only known when a line runs. */
export interface ReadGuard {
  /** The environment of commands. */
  readonly variable: (name: string) => string | undefined;
  /** Whether a real path may not be read. */
  readonly hides: (path: string) => boolean;
  /** Nothing outside the workspace may be read. */
  readonly confined: boolean;
  /** What the surrounding script does to the files that are listed. */
  readonly changes?: FileChanges;
  /** Variables of the surrounding script. */
  readonly outer?: (name: string) => PossibleTexts;
}
