/** Tells how much of the end of a text could be the beginning of something that is looked for. */
export class Beginnings {
  /** By their first bytes, up to three of them: whether there are such. */
  readonly #short = new Set<number>();
  /** By their first four bytes. */
  readonly #long = new Map<number, Uint8Array[]>();
  #longest = 0;

  add(bytes: Uint8Array): void {
    this.#longest = Math.max(this.#longest, bytes.length);
    for (let length = 1; length < 4; length++) this.#short.add(keyOf(bytes, 0, length));
    const key = keyOf(bytes, 0, 4);
    const known = this.#long.get(key);
    if (known) known.push(bytes);
    else this.#long.set(key, [bytes]);
  }

  /** The length of the longest end of the first `size` bytes with which something begins that is longer. */
  longestAtEnd(text: Uint8Array, size: number): number {
    for (let length = Math.min(size, this.#longest - 1); length > 0; length--) {
      if (this.#begins(text, size - length, length)) return length;
    }
    return 0;
  }

  #begins(text: Uint8Array, start: number, length: number): boolean {
    if (length < 4) return this.#short.has(keyOf(text, start, length));
    const candidates = this.#long.get(keyOf(text, start, 4));
    return candidates?.some((bytes) => bytes.length > length && isEqual(text, start, bytes, length)) ?? false;
  }
}

/** The length is part of the key, so that short ones are not taken for others. */
function keyOf(bytes: Uint8Array, start: number, length: number): number {
  let key = length < 4 ? length : 0;
  for (let i = 0; i < length; i++) key = (key << 8) | (bytes[start + i] as number);
  return key;
}

function isEqual(text: Uint8Array, start: number, bytes: Uint8Array, length: number): boolean {
  for (let i = 4; i < length; i++) if (text[start + i] !== bytes[i]) return false;
  return true;
}
