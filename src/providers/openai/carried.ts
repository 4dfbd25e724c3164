import type { Part } from '../../protocol/content.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * What the neutral history has no place for, and what has to go back to the model as it came all the same. It stands
 * in a part under `openai`.
 */
export interface Carried {
  /** A call's arguments in the model's own spelling, where `args` would be written differently. */
  readonly arguments?: string;
  /** Fields of a call that are not OpenAI's: Gemini's signatures come like that. */
  readonly call?: Fields;
  /** Thoughts, under the names that the server uses for them; some servers refuse a history without them. */
  readonly thoughts?: Fields;
  /** A call that could not be read. Kept for people; it is no call. */
  readonly unreadable?: Fields;
}

export function carriedBy(part: Part): Carried {
  return (part['openai'] ?? {}) as Carried;
}
