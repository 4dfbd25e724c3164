import type { Part } from '../../protocol/content.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * What the neutral history has no field for, but must go back to the model as it came. It is kept in a part under
 * `openai`.
 */
export interface Carried {
  /** A call's arguments as the model wrote them, if `args` would be written differently. */
  readonly arguments?: string;
  /** Fields of a call that are not OpenAI's: Gemini's signatures come like that. */
  readonly call?: Fields;
  /** Thoughts, under the server's names for them; some servers reject a history without them. */
  readonly thoughts?: Fields;
  /** A call that could not be read. Kept for people; it does not count as a call. */
  readonly unreadable?: Fields;
}

export function carriedBy(part: Part): Carried {
  return (part['openai'] ?? {}) as Carried;
}
