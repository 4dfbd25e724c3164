export const BACKSLASH = 92;
const N = 110;
const R = 114;
/** Escaped three times. */
export const MAX_BACKSLASHES = 8;

/** The last relevant place up to `at`: programs break long lines anywhere. -1 if there is none. */
export type Step = (bytes: Uint8Array, at: number) => number;

export function isBreak(byte: number | undefined): boolean {
  return byte === 10 || byte === 13;
}

/** Whether a break, escaped or not, can end in a byte: if not, there is no need to look for one. */
export function mayEndBreak(byte: number): boolean {
  return byte === 10 || byte === 13 || byte === N || byte === R;
}

/** Skips nothing. */
export const overNothing: Step = (_bytes, at) => at;

/** Skips line breaks. */
export const overBreaks: Step = (bytes, at) => {
  let place = at;
  while (isBreak(bytes[place])) place--;
  return place;
};

/** Also skips those written as `\n` or `\r`, as in a string: `"c2Vj\ncmV0"`. */
export const overEscapes: Step = (bytes, at) => {
  let place = overBreaks(bytes, at);
  while (isEscape(bytes, place)) {
    const first = place - MAX_BACKSLASHES;
    do place--;
    while (place > first && bytes[place - 1] === BACKSLASH);
    place = overBreaks(bytes, place - 1);
  }
  return place;
};

/** Whether a byte after a backslash makes a break with it. */
export function isBreakSign(byte: number | undefined): boolean {
  return byte === N || byte === R;
}

/** Whether a break written like that ends at a place. */
export function isEscape(bytes: Uint8Array, end: number): boolean {
  return (bytes[end] === N || bytes[end] === R) && bytes[end - 1] === BACKSLASH;
}

/** The end of a line break written as `\n` or `\r`, however often it was escaped; `from` if there is none. */
export function escapedBreakEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bytes[at] === BACKSLASH && at - from < MAX_BACKSLASHES) at++;
  return at > from && (bytes[at] === N || bytes[at] === R) ? at + 1 : from;
}

/** Trailing backslashes may be the beginning of such a break. */
export function withoutOpenEscape(bytes: Uint8Array): number {
  let end = bytes.length;
  while (bytes[end - 1] === BACKSLASH && bytes.length - end < MAX_BACKSLASHES) end--;
  return end;
}
