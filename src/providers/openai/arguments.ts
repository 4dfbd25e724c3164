import { isRecord } from '../../lib/record.js';
import { MAX_DEPTH } from '../../lib/depth.js';

/** Collects the pieces of a call's arguments, and always knows whether they are a whole JSON object. */
export class ArgumentText {
  readonly #pieces: string[] = [];
  #length = 0;
  #depth = 0;
  #deepest = 0;
  #inString = false;
  #escaped = false;

  add(piece: string): void {
    if (piece === '') return;
    this.#pieces.push(piece);
    this.#length += piece.length;
    for (const char of piece) this.#follow(char);
  }

  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  /** Every opened bracket is closed. Reads each character once, however many pieces come. */
  get isWhole(): boolean {
    return this.#deepest > 0 && this.#depth === 0;
  }

  /** Whether they equal this text. Called for every piece: they are joined only if they may be equal. */
  is(text: string): boolean {
    return text.length === this.#length && text === this.text;
  }

  get text(): string {
    return this.#pieces.join('');
  }

  /** The object that the arguments are, or what is wrong with them. No arguments are an empty object. */
  parse(): { readonly args: Readonly<Record<string, unknown>> } | { readonly fault: string } {
    const { text } = this;
    if (text.trim() === '') return { args: {} };
    if (this.#deepest > MAX_DEPTH) return { fault: `are nested more than ${MAX_DEPTH} deep` };
    try {
      const args: unknown = JSON.parse(text);
      if (isRecord(args)) {
        return { args: args as Record<string, unknown> };
      }
      return { fault: 'are not a JSON object' };
    } catch {
      return { fault: 'are not valid JSON' };
    }
  }

  #follow(char: string): void {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (char === '\\') this.#escaped = true;
      else if (char === '"') this.#inString = false;
    } else if (char === '"') this.#inString = true;
    else if (char === '{' || char === '[') this.#deepest = Math.max(this.#deepest, ++this.#depth);
    else if (char === '}' || char === ']') this.#depth--;
  }
}
