const BACKSLASH = 92;
const N = 110;
const R = 114;
/** Escaped three times. */
export const MAX_BACKSLASHES = 8;

/** Where a line break ends that is written `\n` or `\r`, however often it was escaped; `from` if there is none. */
export function escapedBreakEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bytes[at] === BACKSLASH && at - from < MAX_BACKSLASHES) at++;
  return at > from && (bytes[at] === N || bytes[at] === R) ? at + 1 : from;
}

/** Whether a text has such a break in it, or could at its end. */
export function hasEscapedBreak(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return bytes.at(-1) === BACKSLASH || text.includes('\\n') || text.includes('\\r');
}
