import { Beginnings } from './beginnings.js';
import { FILTER_SIZE, keyOf, LONG, mark, SHORT } from './keys.js';
import type { Shape } from './shape.js';

export interface Literal {
  readonly text: string;
  /** The number of its shape. */
  readonly shape: number;
}

/** Where the literals of shapes are looked up. The same for everybody, so it is made once. */
export class Literals {
  readonly shapes: readonly Shape[];
  readonly filter = new Uint8Array(FILTER_SIZE);
  /** By their last four bytes. */
  readonly long = new Map<number, Literal[]>();
  /** Those of three bytes, by them: one more byte is read before they are looked at. */
  readonly short = new Map<number, Literal[]>();
  readonly beginnings = new Beginnings();

  constructor(shapes: readonly Shape[]) {
    this.shapes = shapes;
    for (const [shape, { literals }] of shapes.entries())
      for (const text of literals) this.#add({ text, shape });
  }

  #add(literal: Literal): void {
    const { text } = literal;
    this.beginnings.add(Math.max(4, text.length), (i) => text.charCodeAt(i));
    const key = keyOf(text.slice(-4));
    const known = (text.length < 4 ? this.short : this.long).get(key);
    if (known) known.push(literal);
    else (text.length < 4 ? this.short : this.long).set(key, [literal]);
    if (text.length >= 4) mark(this.filter, key, LONG);
    else for (let next = 33; next < 127; next++) mark(this.filter, (key << 8) | next, SHORT);
  }
}
