import type { Part } from './content.js';

/** What a run is asked to do. */
export interface Task {
  /** For people: what the user wrote. */
  readonly text: string;
  /** For the model: that, and what was attached. */
  readonly parts: readonly Part[];
  /** Something in it is from strangers. */
  readonly untrusted?: boolean;
}
