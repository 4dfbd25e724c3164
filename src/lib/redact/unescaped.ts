import { BACKSLASH, isBreak, MAX_BACKSLASHES } from './breaks.js';
import { MAX_PIECE } from './spellings.js';

/** Bytes after decoding escapes such as `\u0041`, and the original place of each. */
export interface Unescaped {
  readonly bytes: Buffer;
  /** For each byte, and for the end. */
  readonly places: Uint32Array;
}

const U = 117;
const X = 120;
const OPENING = 123;
const CLOSING = 125;
/** What we search for may also be broken by a few escaped line breaks. */
const REACH = MAX_PIECE + 32;
/** Room for all that we search for, with each character escaped. */
const LONGEST = REACH * (MAX_BACKSLASHES + 5);

/** Gathers escapes, in order, into stretches of a text in which something could be written with them. */
export class Stretches {
  readonly #bytes: Buffer;
  readonly #visit: (stretch: Unescaped) => void;
  #first = -1;
  #last = -1;

  constructor(bytes: Buffer, visit: (stretch: Unescaped) => void) {
    this.#bytes = bytes;
    this.#visit = visit;
  }

  /** `at` is a backslash before a `u` or `x`. */
  add(at: number): void {
    if (packedEscape(this.#bytes, at) === 0) return;
    if (this.#first >= 0 && at - this.#last > 2 * REACH) this.end();
    if (this.#first < 0) this.#first = at;
    this.#last = at;
  }

  end(): void {
    if (this.#first < 0) return;
    const bytes = this.#bytes;
    this.#visit(unescaped(bytes, afterEscape(bytes, this.#first), ahead(bytes, this.#last)));
    this.#first = -1;
  }
}

/** Whether a byte after a backslash begins an escape with it, if the rest is valid. */
export function isEscapeSign(byte: number | undefined): boolean {
  return byte === U || byte === X;
}

/** The relevant end of a text that continues, and where an incomplete escape begins. */
export function openEnd(bytes: Buffer): { readonly stretch: Unescaped | undefined; readonly end: number } {
  const last = bytes.lastIndexOf(BACKSLASH);
  const end = withoutPart(bytes, last);
  const from = Math.max(0, end - LONGEST);
  const tail = last < from ? '' : bytes.toString('latin1', from);
  if (end === bytes.length && !/\\[ux]/.test(tail)) return { stretch: undefined, end };
  return { stretch: unescaped(bytes, from, end), end };
}

function unescaped(bytes: Uint8Array, from: number, to: number): Unescaped {
  // Every escape is longer than its character.
  const written = Buffer.allocUnsafe(to - from);
  const places = new Uint32Array(to - from + 1);
  let size = 0;
  let at = from;
  while (at < to) {
    const escape = bytes[at] === BACKSLASH ? packedEscape(bytes, at) : 0;
    if (escape === 0) {
      places[size] = at;
      written[size++] = bytes[at++] as number;
      continue;
    }
    let code = codeOf(escape);
    let length = escapeLength(escape);
    if (isHigh(code)) {
      const next = packedEscape(bytes, at + length);
      if (isLow(codeOf(next))) {
        code = 0x10000 + ((code & 0x3ff) << 10) + (codeOf(next) & 0x3ff);
        length += escapeLength(next);
      }
    }
    const after = encode(code, written, size);
    places.fill(at, size, after);
    size = after;
    at += length;
  }
  places[size] = at;
  return { bytes: written.subarray(0, size), places: places.subarray(0, size + 1) };
}

/** The character of an escape and its length, in one number; 0 if there is none. */
function packedEscape(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bytes[at] === BACKSLASH && at - from < MAX_BACKSLASHES) at++;
  if (at === from) return 0;
  const kind = bytes[at++];
  const isBraced = kind === U && bytes[at] === OPENING;
  if (isBraced) at++;
  else if (kind !== U && kind !== X) return 0;
  const most = mostDigits(kind, isBraced);
  let code = 0;
  let digits = 0;
  for (; digits < most; digits++, at++) {
    const value = hexValue(bytes[at]);
    if (value < 0) break;
    code = code * 16 + value;
  }
  if (isBraced ? digits === 0 || bytes[at++] !== CLOSING : digits < most) return 0;
  return code > 0x10ffff ? 0 : (code << 5) | (at - from);
}

function mostDigits(kind: number | undefined, isBraced: boolean): number {
  if (isBraced) return 6;
  return kind === U ? 4 : 2;
}

const codeOf = (escape: number) => escape >>> 5;
const escapeLength = (escape: number) => escape & 31;
const isHigh = (code: number) => code >= 0xd800 && code < 0xdc00;
const isLow = (code: number) => code >= 0xdc00 && code < 0xe000;

function hexValue(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

/** Writes a character in UTF-8; returns the place after it. */
function encode(code: number, into: Buffer, at: number): number {
  if (code < 0x80) {
    into[at] = code;
    return at + 1;
  }
  const size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  let rest = code;
  for (let i = size - 1; i > 0; i--) {
    into[at + i] = 0x80 | (rest & 0x3f);
    rest >>>= 6;
  }
  into[at] = ((0xf00 >> size) & 0xff) | rest;
  return at + size;
}

/** The place so many characters before another, not counting line breaks. */
function afterEscape(bytes: Uint8Array, from: number): number {
  let at = from;
  for (let left = REACH; left > 0 && at > 0; at--) if (!isBreak(bytes[at - 1])) left--;
  return at;
}

function ahead(bytes: Uint8Array, from: number): number {
  let at = from + MAX_BACKSLASHES + 1;
  for (let left = REACH; left > 0 && at < bytes.length; at++) if (!isBreak(bytes[at])) left--;
  return Math.min(at, bytes.length);
}

/** The longest part of an escape between its backslashes and its last sign. */
const MAX_PART = 'u{10ffff'.length;

/** Where an incomplete escape begins; the length if there is none. `last` is the last backslash. */
function withoutPart(bytes: Buffer, last: number): number {
  if (last < 0 || bytes.length - last - 1 > MAX_PART) return bytes.length;
  const part = bytes.toString('latin1', last + 1);
  if (!/^(?:|u[\da-f]{0,3}|u\{[\da-f]{0,6}|x[\da-f]?)$/i.test(part)) return bytes.length;
  let first = last;
  while (bytes[first - 1] === BACKSLASH && last - first < MAX_BACKSLASHES - 1) first--;
  return first;
}
