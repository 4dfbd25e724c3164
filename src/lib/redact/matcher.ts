import { Beginnings } from './beginnings.js';
import {
  BACKSLASH,
  escapedBreakEnd,
  isBreak,
  isBreakSign,
  isEscape,
  overBreaks,
  overEscapes,
  overNothing,
  withoutOpenEscape,
  type Step,
} from './breaks.js';
import { Findings, type Scanned } from './findings.js';
import { markKey, Marks } from './keys.js';
import type { Literals } from './literals.js';
import { isEscapeSign, openEnd, Stretches, type Unescaped } from './unescaped.js';

/** Bytes to search for, and what replaces them. */
export interface Needle {
  readonly bytes: Uint8Array;
  readonly name: string;
}

/** Longer ones are searched as bytes. */
const MAX_TEXT = 1024 * 1024;

/**
 * Finds needles and shapes. Every needle ends in four bytes, and every literal of a shape contains four; for each place
 * of a text a filter tells whether such four bytes may end there, and only then is it examined closely. Line breaks are
 * skipped, so that a needle is found however it was broken into lines.
 */
export class Matcher {
  readonly #literals: Literals;
  readonly #filter: Uint8Array;
  /** By their last four bytes. */
  readonly #needles = new Map<number, Needle[]>();
  /** 1 for each byte in which a needle ends. */
  readonly #lastBytes = new Uint8Array(256);
  /** Whose rest streams wait for. */
  #beginnings: { readonly needles: Beginnings; readonly literals: Beginnings } | undefined;

  constructor(needles: readonly Needle[], literals: Literals) {
    this.#literals = literals;
    this.#filter = needles.length > 0 ? literals.filter.slice() : literals.filter;
    for (const needle of needles) {
      const key = keyAt(needle.bytes, needle.bytes.length - 1, overBreaks);
      markKey(this.#filter, key);
      this.#lastBytes[key & 255] = 1;
      const known = this.#needles.get(key);
      if (known) known.push(needle);
      else this.#needles.set(key, [needle]);
    }
  }

  /** `before` is the byte before the first one, or -1; `final` says that nothing follows. */
  scan(bytes: Buffer, before: number, final: boolean): Scanned {
    const found = new Findings(bytes, before, final);
    const hasEscapes = this.#needles.size > 0 && bytes.includes(BACKSLASH);
    const marks = new Marks(this.#filter, bytes);
    while (marks.next()) {
      const { key, at } = marks;
      this.#tryNeedles(key, at, overBreaks, found);
      if (hasEscapes) this.#tryNeedles(key, at, overEscapes, found);
      for (const literal of this.#literals.withKey(key)) found.tryLiteral(literal, at);
    }
    if (hasEscapes) this.#lookAtEscapes(bytes, found);
    if (!final) this.#hold(bytes, hasEscapes, found);
    return found;
  }

  #tryNeedles(key: number, at: number, step: Step, found: Findings): void {
    for (const { bytes, name } of this.#needles.get(key) ?? []) {
      const start = startOf(bytes, found.bytes, at, step);
      if (start >= 0) found.add({ start, end: at + 1, name, known: true });
    }
  }

  /** Most text has no escapes; if it has, they are found in one pass. */
  #lookAtEscapes(bytes: Buffer, found: Findings, isInner = false): void {
    const stretches = new Stretches(bytes, (stretch) => this.#lookInto(stretch, found));
    for (let from = 0; from < bytes.length; from += MAX_TEXT) {
      // Strings are searched faster than bytes if there is much to find, but their length is limited.
      const text = bytes.toString('latin1', from, Math.min(bytes.length, from + MAX_TEXT));
      for (let i = text.indexOf('\\'); i >= 0; i = text.indexOf('\\', i + 1)) {
        const next = bytes[from + i + 1];
        if (isBreakSign(next)) this.#lookBehind(from + i + 2, found);
        else if (!isInner && isEscapeSign(next)) stretches.add(from + i);
      }
    }
    stretches.end();
  }

  /** Searches for what is written with escapes after decoding them. */
  #lookInto({ bytes, places }: Unescaped, found: Findings): void {
    const inner = new Findings(bytes, -1, true);
    const hasEscapes = bytes.includes(BACKSLASH);
    const marks = new Marks(this.#filter, bytes);
    while (marks.next()) {
      this.#tryNeedles(marks.key, marks.at, overBreaks, inner);
      if (hasEscapes) this.#tryNeedles(marks.key, marks.at, overEscapes, inner);
    }
    if (hasEscapes) this.#lookAtEscapes(bytes, inner, true);
    for (const { start, end, ...hit } of inner.hits)
      found.add({ start: places[start] as number, end: places[end] as number, ...hit });
  }

  /** If something ends within three places after an escaped break, its last four bytes are on both sides of it. */
  #lookBehind(end: number, found: Findings): void {
    const { bytes } = found;
    let left = 3;
    for (let at = end; left > 0 && at < bytes.length; at++) {
      const byte = bytes[at] as number;
      if (byte === BACKSLASH && escapedBreakEnd(bytes, at) > at) return;
      if (isBreak(byte)) continue;
      left--;
      if (this.#lastBytes[byte] === 1)
        this.#tryNeedles(keyAt(bytes, at, overEscapes), at, overEscapes, found);
    }
  }

  /** Holds what could be the beginning of something until the rest arrives. */
  #hold(bytes: Buffer, hasEscapes: boolean, found: Findings): void {
    this.#beginnings ??= {
      needles: new Beginnings([...this.#needles.values()].flat().map((needle) => needle.bytes)),
      // A literal of three bytes may be complete, but the byte after it missing.
      literals: new Beginnings(this.#literals.all.map(({ text }) => Buffer.from(text.padEnd(4, '\0')))),
    };
    const { needles, literals } = this.#beginnings;
    found.holdFrom(literals.startAtEnd(bytes, bytes.length, overNothing));
    found.holdFrom(needles.startAtEnd(bytes, bytes.length, overBreaks));
    if (!hasEscapes) return;
    const end = withoutOpenEscape(bytes);
    const start = needles.startAtEnd(bytes, end, overEscapes);
    if (start < end) found.holdFrom(start);
    const open = openEnd(bytes);
    found.holdFrom(open.end);
    if (!open.stretch) return;
    const { bytes: tail, places } = open.stretch;
    for (const step of [overBreaks, overEscapes])
      found.holdFrom(places[needles.startAtEnd(tail, tail.length, step)] as number);
  }
}

/** The four bytes that end at a place. */
function keyAt(bytes: Uint8Array, at: number, step: Step): number {
  let key = 0;
  let place = at;
  for (let shift = 0; shift < 32; shift += 8) {
    place = step(bytes, place);
    if (place < 0) break;
    key |= (bytes[place--] as number) << shift;
  }
  return key;
}

/** Where a needle begins that may end at a place; -1 if none does. */
function startOf(needle: Uint8Array, bytes: Uint8Array, at: number, step: Step): number {
  let start = at + 1;
  for (let i = needle.length - 1; i >= 0; i--) {
    start--;
    // Nearly every byte is itself: only an escape can look like one and be none.
    if (bytes[start] === needle[i] && (step === overBreaks || !isEscape(bytes, start))) continue;
    start = step(bytes, start);
    if (start < 0 || bytes[start] !== needle[i]) return -1;
  }
  return start;
}
