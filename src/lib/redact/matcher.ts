import { Beginnings } from './beginnings.js';
import type { Hit } from './hits.js';
import { filterPlace, MULTIPLIER, SHIFT } from './keys.js';
import type { Literal, Literals } from './literals.js';
import { isAt, type GoOn, type Shape } from './shape.js';

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
  #plain = new Uint8Array(1 << 12);

  constructor(needles: readonly Needle[], literals: Literals) {
    this.#literals = literals;
    this.#filter = literals.filter.slice();
    for (const needle of needles) this.#add(needle);
  }

  #add(needle: Needle): void {
    const { bytes } = needle;
    let key = 0;
    for (const byte of bytes.subarray(-4)) key = (key << 8) | byte;
    this.#filter[filterPlace(key)] = 1;
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
      if (code > 127) return true;
      if (code === 10 || code === 13) continue;
      key = (key << 8) | code;
      if (filter[Math.imul(key, MULTIPLIER) >>> SHIFT] !== 0) return true;
    }
    return false;
  }

  /** `before` is the byte in front of the first one, or -1; `final` says that none follows the last. */
  scan(bytes: Uint8Array, before: number, final: boolean): Scanned {
    const filter = this.#filter;
    const plain = this.#plainFor(bytes.length);
    const found = new Findings(bytes, before, final, this.#literals.shapes);
    const { breaks } = found;
    let size = 0;
    let key = 0;
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i] as number;
      if (byte < 14 && (byte === 10 || byte === 13)) {
        breaks.push(size);
        continue;
      }
      plain[size++] = byte;
      key = (key << 8) | byte;
      if (filter[Math.imul(key, MULTIPLIER) >>> SHIFT] === 0) continue;
      const needles = this.#needles.get(key);
      if (needles) for (const needle of needles) found.tryNeedle(needle, plain, size, i + 1);
      const long = this.#literals.long.get(key);
      if (long) for (const literal of long) found.tryLiteral(literal, i + 1);
      const short = this.#literals.short.get(key >>> 8);
      if (short) for (const literal of short) found.tryLiteral(literal, i);
    }
    if (!final) {
      const held = this.#beginnings.longestAtEnd(plain, size);
      if (held > 0) found.holdFrom(found.rawStart(size - held));
      found.holdFrom(bytes.length - this.#literals.beginnings.longestAtEnd(bytes, bytes.length));
    }
    return found;
  }

  #plainFor(length: number): Uint8Array {
    if (this.#plain.length < length) this.#plain = new Uint8Array(length * 2);
    return this.#plain;
  }
}

/** What one scan has found so far. */
class Findings implements Scanned {
  readonly hits: Hit[] = [];
  /** Before which byte of the text without line breaks each line break stood. */
  readonly breaks: number[] = [];
  cut: number;
  readonly open: OpenHit[] = [];
  readonly #bytes: Uint8Array;
  readonly #before: number;
  readonly #final: boolean;
  readonly #shapes: readonly Shape[];
  /** Up to where a shape was found already. */
  readonly #done: number[] = [];

  constructor(bytes: Uint8Array, before: number, final: boolean, shapes: readonly Shape[]) {
    this.#bytes = bytes;
    this.#before = before;
    this.#final = final;
    this.#shapes = shapes;
    this.cut = bytes.length;
  }

  tryNeedle({ bytes, name }: Needle, plain: Uint8Array, size: number, end: number): void {
    const start = size - bytes.length;
    if (start < 0) return;
    for (let i = 0; i < bytes.length; i++) if (plain[start + i] !== bytes[i]) return;
    this.hits.push({ start: this.rawStart(start), end, name, known: true });
  }

  tryLiteral({ text, shape }: Literal, after: number): void {
    const start = after - text.length;
    if (start < (this.#done[shape] ?? 0) || !isAt(this.#bytes, start, text)) return;
    const { look, name } = this.#shapes[shape] as Shape;
    const place = { bytes: this.#bytes, start, after, before: this.#before, final: this.#final };
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

  /** Where a byte of the text without line breaks stands in the text. */
  rawStart(plainStart: number): number {
    const { breaks } = this;
    let low = 0;
    let high = breaks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((breaks[middle] as number) <= plainStart) low = middle + 1;
      else high = middle;
    }
    return plainStart + low;
  }
}
