import { FILTER_SIZE, prefixKey, markKey, markBefore } from './keys.js';
import { shapeOf, type Shape, type TokenRow } from './shape.js';

export interface Literal {
  readonly text: string;
  /** How much of it precedes the end of its four bytes. */
  readonly seen: number;
  readonly shape: Shape;
}

const NONE: readonly Literal[] = [];

/** Looks up the literals of shapes. They are equal for all runs, so this is built once. */
export class Literals {
  readonly filter = new Uint8Array(FILTER_SIZE);
  readonly #shapes: readonly (Shape | TokenRow)[];
  /** By four of their bytes. Those of three by these: one more byte is read before they are looked up. */
  #tables: { readonly long: Map<number, Literal[]>; readonly short: Map<number, Literal[]> } | undefined;

  constructor(shapes: readonly (Shape | TokenRow)[]) {
    this.#shapes = shapes;
    const all = shapes.map((shape) => ('literals' in shape ? shape.literals : shape[1])).join('|');
    for (const written of all.split('|')) {
      const key = prefixKey(seenFirst(written));
      if (written.length >= 4) markKey(this.filter, key);
      else markBefore(this.filter, key);
    }
  }

  get all(): Literal[] {
    const { long, short } = this.#lookUp;
    return [...long.values(), ...short.values()].flat();
  }

  /** Those that these four bytes may belong to. */
  withKey(key: number): readonly Literal[] {
    const { long, short } = this.#lookUp;
    const four = long.get(key);
    const three = short.get(key >>> 8);
    return four && three ? [...four, ...three] : (four ?? three ?? NONE);
  }

  /** Built on first use: most text does not need it. */
  get #lookUp() {
    if (this.#tables) return this.#tables;
    this.#tables = { long: new Map(), short: new Map() };
    for (const given of this.#shapes) {
      const shape = 'literals' in given ? given : shapeOf(given);
      for (const written of shape.literals.split('|')) {
        const isLong = written.length >= 4;
        const text = written.replace('^', '');
        const seen = isLong && written.includes('^') ? written.indexOf('^') : Math.max(4, text.length);
        const table = isLong ? this.#tables.long : this.#tables.short;
        const key = prefixKey(seenFirst(written));
        const known = table.get(key);
        if (known) known.push({ text, seen, shape });
        else table.set(key, [{ text, seen, shape }]);
      }
    }
    return this.#tables;
  }
}

/** The bytes of a literal to search for. */
function seenFirst(written: string): string {
  const end = written.indexOf('^');
  return written.slice(0, end < 0 ? written.length : end).slice(-4);
}
