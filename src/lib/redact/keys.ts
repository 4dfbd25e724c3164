const FILTER_BITS = 16;
export const FILTER_SIZE = 1 << FILTER_BITS;
/** Spreads four bytes over the filter. */
export const MULTIPLIER = 0x9e3779b1;
export const SHIFT = 32 - FILTER_BITS;

/** Up to four ASCII characters in one number. */
export function keyOf(text: string): number {
  let key = 0;
  for (let i = 0; i < text.length; i++) key = (key << 8) | text.charCodeAt(i);
  return key;
}

/** What may end at a place: a needle, a literal of a shape, or one of three bytes with one behind it. */
export const NEEDLE = 1;
export const LONG = 2;
export const SHORT = 4;

export function mark(filter: Uint8Array, key: number, what: number): void {
  const place = Math.imul(key, MULTIPLIER) >>> SHIFT;
  filter[place] = (filter[place] as number) | what;
}
