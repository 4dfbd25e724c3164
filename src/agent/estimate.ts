import type { Content, Part } from '../protocol/content.js';
import type { History } from './history.js';

/** What a token is about. */
const BYTES = 4;

/** Tokens of anything that is sent as text, by this rule of thumb. */
export function tokensOf(value: unknown): number {
  return Math.ceil(jsonBytes(value) / BYTES);
}

/** About as long as its JSON, without making that. */
function jsonBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + 2;
  if (typeof value !== 'object' || value === null) return 4;
  let sum = 2;
  // Asked about every part and declaration: a list of entries would cost more than what is counted.
  for (const key in value) sum += key.length + 4 + jsonBytes((value as Record<string, unknown>)[key]);
  return sum;
}

export function contentTokens({ parts }: Content): number {
  return parts.reduce((sum, part) => sum + partTokens(part), 0);
}

function mediaIn({ parts }: Content): number {
  return parts.reduce((sum, part) => sum + (part.inlineData ? partTokens(part) : 0), 0);
}

function partTokens(part: Part): number {
  return part.inlineData
    ? mediaTokens(part.inlineData.mimeType, part.inlineData.data.length)
    : tokensOf(part);
}

/** Media are counted by pages and seconds. Those are not known here, but what they usually weigh is. */
function mediaTokens(mimeType: string, base64Length: number): number {
  const bytes = base64Length * 0.75;
  if (mimeType.startsWith('image/')) return 1500;
  if (mimeType.startsWith('audio/')) return Math.ceil(bytes / 500);
  if (mimeType.startsWith('video/')) return Math.ceil(bytes / 800);
  return Math.max(260, Math.ceil(bytes / 100));
}

/** How many times too high an estimate may be that no count of the model has confirmed: for text, and for media. */
const TEXT_DOUBT = 1.5;
const MEDIA_DOUBT = 3;

/** The most that text is taken to be denser than the rule of thumb says. */
const DENSEST = 4;

/**
 * How many tokens a history is for the model: what it said about its last prompt, and an estimate of what was added
 * since. Each content is looked at once.
 */
export class Gauge {
  readonly #overhead: number;
  #sizes: number[] = [];
  #media: number[] = [];
  #rough: number;
  #confirmed = false;
  #last: { readonly rough: number; readonly tokens: number } | undefined;

  /** `overhead` is what every request has besides the history. */
  constructor(overhead: number) {
    this.#overhead = overhead;
    this.#rough = overhead;
  }

  /** The history may have become longer since it was seen last, but not otherwise changed. */
  tokens(history: History): number {
    for (const content of history.slice(this.#sizes.length)) {
      const size = contentTokens(content);
      this.#sizes.push(size);
      this.#media.push(mediaIn(content));
      this.#rough += size;
    }
    if (!this.#last) return this.#rough;
    const { rough, tokens } = this.#last;
    if (this.#rough < rough) return Math.ceil((tokens * this.#rough) / rough);
    return Math.ceil(tokens + (this.#rough - rough) * this.#density);
  }

  /** The history that was seen last has been sent; undefined if the model did not say how many tokens it was. */
  learn(prompt: number | undefined): void {
    this.#confirmed ||= Boolean(prompt);
    this.#last = { rough: this.#rough, tokens: prompt || this.#rough * this.#density };
  }

  /** Whether the model itself has said how large the history was. */
  get confirmed(): boolean {
    return this.#confirmed;
  }

  /** What an estimate comes to at least. Beyond that nobody need ask the provider whether it fits. */
  least(tokens: number): number {
    const media = this.#media.reduce((sum, size) => sum + size, 0);
    return Math.max(0, tokens - media) / TEXT_DOUBT + media / MEDIA_DOUBT;
  }

  /** The prompt of the last turn. */
  get prompt(): number {
    return this.#last?.tokens ?? 0;
  }

  /** By the rule of thumb, for each content of the history that was seen last. */
  get sizes(): readonly number[] {
    return this.#sizes;
  }

  /** How much may stand behind the first content for the whole to have `tokens`, by the rule of thumb. */
  room(tokens: number): number {
    return this.#roughly(tokens) - this.#overhead - (this.#sizes[0] ?? 0);
  }

  /** How much text there may be in so many tokens. */
  bytesIn(tokens: number): number {
    return (tokens * BYTES) / this.#density;
  }

  /** How much more than the rule of thumb a text here weighs. Never less: what comes may be different. */
  get #density(): number {
    return this.#last ? Math.min(DENSEST, Math.max(1, this.#last.tokens / this.#last.rough)) : 1;
  }

  #roughly(tokens: number): number {
    if (!this.#last) return tokens;
    const more = tokens - this.#last.tokens;
    return more < 0
      ? (tokens * this.#last.rough) / this.#last.tokens
      : this.#last.rough + more / this.#density;
  }

  /** From now on the history begins with `first`, and goes on with what it had from `kept` on. */
  replace(first: Content, kept: number): void {
    this.#sizes = [contentTokens(first), ...this.#sizes.slice(kept)];
    this.#media = [mediaIn(first), ...this.#media.slice(kept)];
    this.#rough = this.#sizes.reduce((sum, size) => sum + size, this.#overhead);
  }
}
