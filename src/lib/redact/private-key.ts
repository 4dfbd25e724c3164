import { escapedBreakEnd } from './breaks.js';
import { textIn, type GoOn, type LiteralMatch, type Shape, type Finding } from './shape.js';

const MAX_LABEL = 60;
/** A longer line of key material is not held until it ends. */
const MAX_HELD = 512;
/** How much of a line is examined at once, so that many beginnings on one line do not add up. */
const MAX_LINE = 4 * MAX_HELD;

/** A PEM block of a private key, as far as it goes: its end may be missing. */
export const privateKey: Shape = { name: 'private-key', literals: '-----BEGIN ', look: findKey };

function findKey(place: LiteralMatch): Finding {
  const { bytes, start, after, final } = place;
  const label = textIn(bytes, after, Math.min(bytes.length, after + MAX_LABEL));
  const head = /^[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/.exec(label);
  if (!head) return label.length < MAX_LABEL && !final && /^[A-Z0-9 ]*-*$/.test(label) ? 'unsure' : 'none';
  const { end, open } = body(bytes, after + head[0].length, final);
  return { start, end, ...(open && { open: body }) };
}

/** Line by line: key material, headers and blank lines belong to it; anything else ends it. */
const body: GoOn = (bytes, from, final) => {
  let end = from;
  while (true) {
    const line = skipBreak(bytes, end);
    const { stop, text } = lineAt(bytes, line);
    const last = /-----END [A-Z0-9 ]{0,60}-----/.exec(text);
    if (last) return { end: line + last.index + last[0].length, open: false };
    const whole = stop < bytes.length || final;
    if (!whole && stop - line <= MAX_HELD) return { end, open: true };
    if (!isMaterial(text)) return { end, open: false };
    if (stop >= bytes.length) return { end: bytes.length, open: !final };
    end = stop;
  }
};

const PREFIX = /^(?:(?:\S{0,300}[:-])?\d{1,9}[:-])?[ \t+\-|>#*"']{0,40}/;
const SUFFIX = /[ \t"',;)\\]{0,20}$/;

/** Even if it is quoted, indented, in a diff, or in lines found by a search. */
function isMaterial(line: string): boolean {
  const bare = line.replace(PREFIX, '').replace(SUFFIX, '');
  return /^[A-Za-z0-9+/=]*$/.test(bare) || /^[A-Za-z][A-Za-z-]{1,30}: /.test(bare);
}

/** Line breaks, also as written in JSON. */
function skipBreak(bytes: Uint8Array, from: number): number {
  if (bytes[from] === 13 && bytes[from + 1] === 10) return from + 2;
  if (bytes[from] === 10 || bytes[from] === 13) return from + 1;
  return escapedBreakEnd(bytes, from);
}

const BACKSLASH = 92;

/** A line, or as much of a long one as is examined at once; never cut inside what ends a key. */
function lineAt(bytes: Uint8Array, from: number): { readonly stop: number; readonly text: string } {
  const limit = Math.min(bytes.length, from + MAX_LINE);
  const stop = lineEnd(bytes, from, limit);
  const text = textIn(bytes, from, stop);
  if (stop < limit || limit === bytes.length) return { stop, text };
  const half = /-+(?:E|EN|END[A-Z0-9 ]{0,61}-{0,5})?$/.exec(text);
  return half && half.index > 0 && !/-----END [A-Z0-9 ]{0,60}-----/.test(text)
    ? { stop: from + half.index, text: text.slice(0, half.index) }
    : { stop, text };
}

function lineEnd(bytes: Uint8Array, from: number, limit: number): number {
  for (let at = from; at < limit; at++) {
    const byte = bytes[at];
    if (byte === 10 || byte === 13) return at;
    if (byte === BACKSLASH && skipBreak(bytes, at) > at) return at;
  }
  return limit;
}
