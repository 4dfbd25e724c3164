import type { Hit } from './hits.js';
import type { GoOn, Shape } from './shape.js';
import { Beginnings } from './beginnings.js';

/** Bytes that are looked for, and what stands in their place. */
export interface Needle {
  readonly bytes: Uint8Array;
  readonly name: string;
}

interface Literal {
  readonly bytes: Uint8Array;
  readonly shape: number;
}

/** What is looked at where four bytes are found. */
interface Trigger {
  readonly needles: Needle[];
  readonly literals: Literal[];
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

const KEY_BYTES = 4;
/** Spreads four bytes over the filter. */
const MULTIPLIER = 0x9e3779b1;
const FILTER_BITS = 16;

/**
 * Finds needles and shapes. Every needle and every literal of a shape ends in four bytes; a filter tells for each place
 * of a text whether such four bytes may end there, and only then somebody looks closer. Line breaks are passed over, so
 * that a needle is found however it was broken into lines.
 */
export class Matcher {
  readonly #shapes: readonly Shape[];
  readonly #filter = new Uint8Array(1 << FILTER_BITS);
  readonly #triggers = new Map<number, Trigger>();
  readonly #needleStarts = new Beginnings();
  readonly #literalStarts = new Beginnings();
  #plain = new Uint8Array(1 << 12);

  constructor(needles: readonly Needle[], shapes: readonly Shape[]) {
    this.#shapes = shapes;
    for (const needle of needles) {
      this.#triggerFor(needle.bytes).needles.push(needle);
      this.#needleStarts.add(needle.bytes);
    }
    for (const [shape, { literals }] of shapes.entries()) {
      for (const text of literals) {
        const bytes = Buffer.from(text);
        this.#triggerFor(bytes).literals.push({ bytes, shape });
        this.#literalStarts.add(bytes);
      }
    }
  }

  #triggerFor(bytes: Uint8Array): Trigger {
    let key = 0;
    for (const byte of bytes.subarray(-KEY_BYTES)) key = (key << 8) | byte;
    this.#filter[Math.imul(key, MULTIPLIER) >>> (32 - FILTER_BITS)] = 1;
    const trigger = this.#triggers.get(key) ?? { needles: [], literals: [] };
    this.#triggers.set(key, trigger);
    return trigger;
  }

  /** `before` is the byte in front of the first one, or -1; `final` says that none follows the last. */
  scan(bytes: Uint8Array, before: number, final: boolean): Scanned {
    const filter = this.#filter;
    const plain = this.#plainFor(bytes.length);
    const found = new Findings(bytes, before, final, this.#shapes);
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
      if (filter[Math.imul(key, MULTIPLIER) >>> (32 - FILTER_BITS)] === 0) continue;
      const trigger = this.#triggers.get(key);
      if (trigger) {
        for (const needle of trigger.needles) found.tryNeedle(needle, plain, size, i + 1);
        for (const literal of trigger.literals) found.tryLiteral(literal, i + 1);
      }
    }
    if (!final) {
      const held = this.#needleStarts.longestAtEnd(plain, size);
      if (held > 0) found.holdFrom(found.rawStart(size - held));
      found.holdFrom(bytes.length - this.#literalStarts.longestAtEnd(bytes, bytes.length));
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

  tryLiteral({ bytes, shape }: Literal, after: number): void {
    const start = after - bytes.length;
    if (start < (this.#done[shape] ?? 0)) return;
    for (let i = 0; i < bytes.length; i++) if (this.#bytes[start + i] !== bytes[i]) return;
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
