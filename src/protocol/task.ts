import type { Part } from './content.js';

/** What a run is asked to do. */
export interface Task {
  /** For people: what the user wrote. */
  readonly text: string;
  /** For the model: the text and the attachments. */
  readonly parts: readonly Part[];
  /** Something in it is untrusted. */
  readonly untrusted?: boolean;
}

/** The largest allowed prompt, stdin or attached file. */
export const MAX_INPUT_BYTES = 32 * 1024 * 1024;

export interface Attachment {
  readonly label: string;
  readonly bytes: Buffer;
  /** It comes from outside. */
  readonly untrusted?: boolean;
}
