/** How much of a cut text comes from its beginning; the end usually says what happened. */
const HEAD_SHARE = 0.2;

export interface Shares {
  readonly head: number;
  readonly tail: number;
}

export function sharesOf(cap: number): Shares {
  const head = Math.floor(cap * HEAD_SHARE);
  return { head, tail: cap - head };
}

const isLowSurrogate = (code: number) => code >= 0xdc00 && code <= 0xdfff;

/** The first `length` characters, without half a surrogate pair. */
export function headOf(text: string, length: number): string {
  return text.slice(0, isLowSurrogate(text.charCodeAt(length)) ? length - 1 : length);
}

/** The last `length` characters, without half a surrogate pair. */
export function tailOf(text: string, length: number): string {
  const start = Math.max(0, text.length - length);
  return text.slice(isLowSurrogate(text.charCodeAt(start)) ? start + 1 : start);
}

/** `where` the rest is, after a semicolon, if it is anywhere. */
export function cutNotice(cut: string, where: string): string {
  return `\n[… ${cut} cut${where} …]\n`;
}
