import { FILTER_SIZE, keyOf, mark, markBefore } from './keys.js';
import type { Shape } from './shape.js';

export interface Literal {
  readonly text: string;
  /** How much of it is there when its four bytes are. */
  readonly seen: number;
  /** The number of its shape. */
  readonly shape: number;
}

const NONE: readonly Literal[] = [];

/** Where the literals of shapes are looked up. The same for everybody, so it is made once. */
export class Literals {
  readonly shapes: readonly Shape[];
  readonly filter = new Uint8Array(FILTER_SIZE);
  /** By four of their bytes. */
  readonly #long = new Map<number, Literal[]>();
  /** Those of three bytes, by them: one more byte is read before they are looked at. */
  readonly #short = new Map<number, Literal[]>();

  constructor(shapes: readonly Shape[]) {
    this.shapes = shapes;
    for (const [shape, { literals }] of shapes.entries())
      for (const text of literals.split('|')) this.#add(text, shape);
  }

  get texts(): string[] {
    return [...this.#long.values(), ...this.#short.values()].flat().map(({ text }) => text);
  }

  /** Those that may be where these four bytes are. */
  withKey(key: number): readonly Literal[] {
    const long = this.#long.get(key);
    const short = this.#short.get(key >>> 8);
    return long && short ? [...long, ...short] : (long ?? short ?? NONE);
  }

  #add(written: string, shape: number): void {
    const [head = '', rest = ''] = written.split('^');
    const text = head + rest;
    const isLong = text.length >= 4;
    const key = keyOf(head.slice(-4));
    if (isLong) mark(this.filter, key);
    else markBefore(this.filter, key);
    const table = isLong ? this.#long : this.#short;
    const known = table.get(key);
    const literal = { text, seen: isLong ? head.length : 4, shape };
    if (known) known.push(literal);
    else table.set(key, [literal]);
  }
}
