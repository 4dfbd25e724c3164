type ByteAt = (i: number) => number;

interface Known {
  readonly length: number;
  readonly byteAt: ByteAt;
}

/** Tells how much of the end of a text could be the beginning of something that is looked for. */
export class Beginnings {
  /** The first one, two and three bytes of each. */
  readonly #short = new Set<number>();
  /** By their first four bytes. */
  readonly #long = new Map<number, Known[]>();
  #longest = 0;

  add(length: number, byteAt: ByteAt): void {
    this.#longest = Math.max(this.#longest, length);
    for (let size = 1; size < Math.min(4, length); size++) this.#short.add(keyOf(byteAt, 0, size));
    if (length < 5) return;
    const key = keyOf(byteAt, 0, 4);
    const known = this.#long.get(key);
    if (known) known.push({ length, byteAt });
    else this.#long.set(key, [{ length, byteAt }]);
  }

  /** The length of the longest end of the first `size` bytes with which something begins that is longer. */
  longestAtEnd(text: Uint8Array, size: number): number {
    const byteAt = (i: number) => text[i] as number;
    for (let length = Math.min(size, this.#longest - 1); length > 0; length--) {
      if (this.#begins(byteAt, size - length, length)) return length;
    }
    return 0;
  }

  #begins(byteAt: ByteAt, start: number, length: number): boolean {
    if (length < 4) return this.#short.has(keyOf(byteAt, start, length));
    const candidates = this.#long.get(keyOf(byteAt, start, 4));
    return (
      candidates?.some((known) => known.length > length && isEqual(byteAt, start, known, length)) ?? false
    );
  }
}

/** The length is part of the key, so that short ones are not taken for others. */
function keyOf(byteAt: ByteAt, start: number, length: number): number {
  let key = length < 4 ? length : 0;
  for (let i = 0; i < length; i++) key = (key << 8) | byteAt(start + i);
  return key;
}

function isEqual(byteAt: ByteAt, start: number, known: Known, length: number): boolean {
  for (let i = 4; i < length; i++) if (byteAt(start + i) !== known.byteAt(i)) return false;
  return true;
}
