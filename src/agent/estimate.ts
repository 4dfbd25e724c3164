import type { Content, Part } from '../protocol/content.js';
import type { History } from './history.js';

/** Per token, roughly. */
const BYTES = 4;

/** Tokens of anything that is sent as text, by that rule of thumb. */
export function estimatedTokens(value: unknown): number {
  return Math.ceil(jsonBytes(value) / BYTES);
}

/** About the length of its JSON, without building that. */
function jsonBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + 2;
  if (typeof value !== 'object' || value === null) return 4;
  let sum = 2;
  // Called for every part and declaration: a list of entries would cost more than the counting.
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
    : estimatedTokens(part);
}

/** Media are counted by pages and seconds. Those are unknown here, so typical sizes are used. */
function mediaTokens(mimeType: string, base64Length: number): number {
  const bytes = base64Length * 0.75;
  if (mimeType.startsWith('image/')) return 1500;
  if (mimeType.startsWith('audio/')) return Math.ceil(bytes / 500);
  if (mimeType.startsWith('video/')) return Math.ceil(bytes / 800);
  return Math.max(260, Math.ceil(bytes / 100));
}

/** How many times too high an estimate may be before a count of the model confirms it: for text, and for media. */
const TEXT_DOUBT = 1.5;
const MEDIA_DOUBT = 3;

/** How much denser than the rule of thumb text may be, at most. */
const DENSEST = 4;

/**
 * How many tokens a history is for the model: what the model counted for its last prompt, and an estimate of what was
 * added since. Each content is looked at once.
 */
export class Gauge {
  readonly #overhead: number;
  #sizes: number[] = [];
  #media: number[] = [];
  #rough: number;
  #confirmed = false;
  #last: { readonly rough: number; readonly tokens: number } | undefined;

  /** `overhead` is the part of every request that is not history. */
  constructor(overhead: number) {
    this.#overhead = overhead;
    this.#rough = overhead;
  }

  /** The history may have grown since the last call, but not otherwise changed. */
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

  /** The last history measured was sent; undefined if the model did not say how many tokens it was. */
  learn(prompt: number | undefined): void {
    this.#confirmed ||= Boolean(prompt);
    this.#last = { rough: this.#rough, tokens: prompt || this.#rough * this.#density };
  }

  /** Whether the model itself has reported the size of the history. */
  get confirmed(): boolean {
    return this.#confirmed;
  }

  /** The least that an estimate stands for. If even that is too much, the provider need not be asked. */
  least(tokens: number): number {
    const media = this.#media.reduce((sum, size) => sum + size, 0);
    return Math.max(0, tokens - media) / TEXT_DOUBT + media / MEDIA_DOUBT;
  }

  /** The prompt of the last turn. */
  get prompt(): number {
    return this.#last?.tokens ?? 0;
  }

  /** By the rule of thumb, for each content of the last history measured. */
  get sizes(): readonly number[] {
    return this.#sizes;
  }

  /** How much may follow the first content for the whole to have `tokens`, by the rule of thumb. */
  room(tokens: number): number {
    return this.#roughly(tokens) - this.#overhead - (this.#sizes[0] ?? 0);
  }

  /** How many bytes of text this many tokens hold. */
  bytesIn(tokens: number): number {
    return (tokens * BYTES) / this.#density;
  }

  /** How many times denser than the rule of thumb text is here. Never less than once: new text may differ. */
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

  /** From now on the history is `first`, then what it had from `kept` on. */
  replace(first: Content, kept: number): void {
    this.#sizes = [contentTokens(first), ...this.#sizes.slice(kept)];
    this.#media = [mediaIn(first), ...this.#media.slice(kept)];
    this.#rough = this.#sizes.reduce((sum, size) => sum + size, this.#overhead);
  }
}
