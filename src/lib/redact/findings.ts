import type { Hit } from './hits.js';
import type { Literal } from './literals.js';
import { isAt, type GoOn, type Shape } from './shape.js';

export interface Scanned {
  readonly hits: readonly Hit[];
  /** From here on, more bytes are needed to decide. */
  readonly cut: number;
  /** Hits that may continue after the last byte. */
  readonly open: readonly OpenHit[];
}

export interface OpenHit {
  readonly start: number;
  /** How far it is known to go. */
  readonly end: number;
  readonly goOn: GoOn;
}

/** What one scan has found so far. */
export class Findings implements Scanned {
  readonly bytes: Uint8Array;
  readonly hits: Hit[] = [];
  readonly open: OpenHit[] = [];
  cut: number;
  readonly #before: number;
  readonly #final: boolean;
  /** How far each shape has been found already. */
  #done: Map<Shape, number> | undefined;

  constructor(bytes: Uint8Array, before: number, final: boolean) {
    this.bytes = bytes;
    this.cut = bytes.length;
    this.#before = before;
    this.#final = final;
  }

  add(hit: Hit): void {
    this.hits.push(hit);
  }

  /** `at` is where its four bytes end. */
  tryLiteral({ text, seen, shape }: Literal, at: number): void {
    const start = at + 1 - seen;
    const after = start + text.length;
    if (start < (this.#done?.get(shape) ?? 0) || !isAt(this.bytes, start, text)) return;
    const looked = shape.look({ bytes: this.bytes, start, after, before: this.#before, final: this.#final });
    if (looked === 'none') return;
    if (looked === 'unsure') {
      this.holdFrom(start);
      return;
    }
    const { open: goOn, ...range } = looked;
    this.add({ ...range, name: shape.name });
    (this.#done ??= new Map()).set(shape, range.end);
    if (!goOn) return;
    this.open.push({ ...range, goOn });
    this.holdFrom(range.end);
  }

  holdFrom(start: number): void {
    this.cut = Math.min(this.cut, start);
  }
}
