import { Beginnings } from './beginnings.js';
import { escapedBreakEnd, hasEscapedBreak, MAX_BACKSLASHES } from './escaped-breaks.js';
import type { Hit } from './hits.js';
import { LONG, mark, MULTIPLIER, NEEDLE, SHIFT, SHORT } from './keys.js';
import type { Literal, Literals } from './literals.js';
import { isAt, type GoOn, type Shape } from './shape.js';
import { View } from './view.js';

/** Bytes that are looked for, and what stands in their place. */
export interface Needle {
  readonly bytes: Uint8Array;
  readonly name: string;
}

export interface Scanned {
  readonly hits: Hit[];
  /** From here on it takes more bytes to tell. */
  readonly cut: number;
  /** Hits that may go on behind the last byte. */
  readonly open: readonly OpenHit[];
}

export interface OpenHit {
  readonly start: number;
  /** Up to where it is known to go. */
  readonly end: number;
  readonly goOn: GoOn;
}

const BACKSLASH = 92;

/**
 * Finds needles and shapes. Every needle and every literal of a shape ends in four bytes; a filter tells for each place
 * of a text whether such four bytes may end there, and only then somebody looks closer. Line breaks are passed over, so
 * that a needle is found however it was broken into lines.
 */
export class Matcher {
  readonly #literals: Literals;
  readonly #filter: Uint8Array;
  readonly #needles = new Map<number, Needle[]>();
  readonly #beginnings = new Beginnings();
  readonly #view = new View();

  constructor(needles: readonly Needle[], literals: Literals) {
    this.#literals = literals;
    this.#filter = literals.filter.slice();
    for (const needle of needles) this.#add(needle);
  }

  #add(needle: Needle): void {
    const { bytes } = needle;
    let key = 0;
    for (const byte of bytes.subarray(-4)) key = (key << 8) | byte;
    mark(this.#filter, key, NEEDLE);
    const known = this.#needles.get(key);
    if (known) known.push(needle);
    else this.#needles.set(key, [needle]);
    this.#beginnings.add(bytes.length, (i) => bytes[i] as number);
  }

  /** Whether a short text is worth a closer look. Most are not, and that is told without copying them. */
  mayHaveHits(text: string): boolean {
    const filter = this.#filter;
    let key = 0;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 127 || code === BACKSLASH) return true;
      if (code === 10 || code === 13) continue;
      key = (key << 8) | code;
      if (filter[Math.imul(key, MULTIPLIER) >>> SHIFT] !== 0) return true;
    }
    return false;
  }

  /** `before` is the byte in front of the first one, or -1; `final` says that none follows the last. */
  scan(bytes: Uint8Array, before: number, final: boolean): Scanned {
    const found = new Findings(bytes, before, final, this.#literals.shapes);
    this.#scanLines(bytes, found);
    if (this.#needles.size > 0 && hasEscapedBreak(bytes)) this.#scanEscapes(bytes, found);
    if (!final) found.holdFrom(bytes.length - this.#literals.beginnings.longestAtEnd(bytes, bytes.length));
    return found;
  }

  #scanLines(bytes: Uint8Array, found: Findings): void {
    const filter = this.#filter;
    const view = this.#view;
    const plain = view.begin(bytes.length);
    let size = 0;
    let key = 0;
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i] as number;
      if (byte < 14 && (byte === 10 || byte === 13)) {
        view.leaveOut(size, 1);
        continue;
      }
      plain[size++] = byte;
      key = (key << 8) | byte;
      const marks = filter[Math.imul(key, MULTIPLIER) >>> SHIFT] as number;
      if (marks !== 0) {
        view.size = size;
        this.#lookCloser(marks, key, i, found);
      }
    }
    view.size = size;
    this.#hold(found);
  }

  /** Once more for needles that stand in a string with line breaks in it: `"c2Vj\ncmV0"`. */
  #scanEscapes(bytes: Uint8Array, found: Findings): void {
    const view = this.#view;
    const plain = view.begin(bytes.length);
    let key = 0;
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i] as number;
      const end = byte === BACKSLASH ? this.#escapeEnd(bytes, i, found) : i;
      if (end > i || byte === 10 || byte === 13) {
        view.leaveOut(view.size, Math.max(1, end - i));
        i = Math.max(i, end - 1);
        continue;
      }
      plain[view.size++] = byte;
      key = (key << 8) | byte;
      const marks = this.#filter[Math.imul(key, MULTIPLIER) >>> SHIFT] as number;
      if ((marks & NEEDLE) !== 0) this.#lookCloser(NEEDLE, key, i, found);
    }
    this.#hold(found);
  }

  /** Backslashes at the very end may be the beginning of an escape. */
  #escapeEnd(bytes: Uint8Array, from: number, { final }: Findings): number {
    const end = escapedBreakEnd(bytes, from);
    if (end > from || final || bytes.length - from > MAX_BACKSLASHES) return end;
    let at = from;
    while (bytes[at] === BACKSLASH) at++;
    return at === bytes.length ? at : from;
  }

  /** What could be the beginning of a needle waits for the rest of it. */
  #hold(found: Findings): void {
    if (found.final) return;
    const { bytes, size } = this.#view;
    const held = this.#beginnings.longestAtEnd(bytes, size);
    if (held > 0) found.holdFrom(this.#view.placeOf(size - held));
  }

  #lookCloser(marks: number, key: number, at: number, found: Findings): void {
    const needles = (marks & NEEDLE) !== 0 ? this.#needles.get(key) : undefined;
    if (needles) for (const needle of needles) found.tryNeedle(needle, this.#view, at + 1);
    const long = (marks & LONG) !== 0 ? this.#literals.long.get(key) : undefined;
    if (long) for (const literal of long) found.tryLiteral(literal, at + 1);
    const short = (marks & SHORT) !== 0 ? this.#literals.short.get(key >>> 8) : undefined;
    if (short) for (const literal of short) found.tryLiteral(literal, at);
  }
}

/** What one scan has found so far. */
class Findings implements Scanned {
  readonly hits: Hit[] = [];
  cut: number;
  readonly open: OpenHit[] = [];
  readonly #bytes: Uint8Array;
  readonly #before: number;
  readonly final: boolean;
  readonly #shapes: readonly Shape[];
  /** Up to where a shape was found already. */
  readonly #done: number[] = [];

  constructor(bytes: Uint8Array, before: number, final: boolean, shapes: readonly Shape[]) {
    this.#bytes = bytes;
    this.#before = before;
    this.final = final;
    this.#shapes = shapes;
    this.cut = bytes.length;
  }

  tryNeedle({ bytes, name }: Needle, view: View, end: number): void {
    const start = view.size - bytes.length;
    if (start < 0) return;
    for (let i = 0; i < bytes.length; i++) if (view.bytes[start + i] !== bytes[i]) return;
    this.hits.push({ start: view.placeOf(start), end, name, known: true });
  }

  tryLiteral({ text, shape }: Literal, after: number): void {
    const start = after - text.length;
    if (start < (this.#done[shape] ?? 0) || !isAt(this.#bytes, start, text)) return;
    const { look, name } = this.#shapes[shape] as Shape;
    const place = { bytes: this.#bytes, start, after, before: this.#before, final: this.final };
    const verdict = look(place);
    if (verdict === 'none') return;
    if (verdict === 'unsure') {
      this.holdFrom(start);
      return;
    }
    const { open: goOn, ...range } = verdict;
    this.hits.push({ ...range, name });
    this.#done[shape] = range.end;
    if (!goOn) return;
    this.open.push({ ...range, goOn });
    this.holdFrom(range.end);
  }

  holdFrom(start: number): void {
    this.cut = Math.min(this.cut, start);
  }
}
