const FILTER_BITS = 14;
export const FILTER_SIZE = 1 << FILTER_BITS;
/** Hashes four bytes to a place in the filter. */
const MULTIPLIER = 0x9e3779b1;
const SHIFT = 32 - FILTER_BITS;
/** In the filter, if several share a place. */
const SEVERAL = 255;

/** Up to four ASCII characters in one number. */
export function prefixKey(text: string): number {
  let key = 0;
  for (let i = 0; i < text.length; i++) key = (key << 8) | text.charCodeAt(i);
  return key;
}

/** At the place of four bytes, the filter keeps what tells them from nearly all others with that place. */
export function markKey(filter: Uint8Array, key: number): void {
  const place = Math.imul(key, MULTIPLIER) >>> SHIFT;
  const check = 1 + (key & 127);
  filter[place] = filter[place] === 0 || filter[place] === check ? check : SEVERAL;
}

/** Marks three bytes, with any byte after them. */
export function markBefore(filter: Uint8Array, key: number): void {
  for (let next = 33; next < 127; next++) markKey(filter, (key << 8) | next);
}

/** Goes to each place where four bytes end that a filter knows, or may know. Skips line breaks. */
export class Marks {
  readonly #filter: Uint8Array;
  readonly #bytes: Uint8Array;
  at = -1;
  /** The four bytes. */
  key = 0;

  constructor(filter: Uint8Array, bytes: Uint8Array) {
    this.#filter = filter;
    this.#bytes = bytes;
  }

  /** False at the end. All text goes through this loop: it does nothing else, so that it is compiled at once. */
  next(): boolean {
    const filter = this.#filter;
    const bytes = this.#bytes;
    let key = this.key;
    for (let i = this.at + 1; i < bytes.length; i++) {
      const byte = bytes[i] as number;
      if (byte === 10 || byte === 13) continue;
      key = (key << 8) | byte;
      const check = filter[Math.imul(key, MULTIPLIER) >>> SHIFT] as number;
      if (check === 0 || (check !== 1 + (byte & 127) && check !== SEVERAL)) continue;
      this.at = i;
      this.key = key;
      return true;
    }
    return false;
  }
}
