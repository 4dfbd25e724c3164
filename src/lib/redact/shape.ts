/** A place where the literal of a shape was found. */
export interface LiteralMatch {
  readonly bytes: Uint8Array;
  /** Where the literal begins, and where it ends. */
  readonly start: number;
  readonly after: number;
  /** The byte before the first one, or -1. */
  readonly before: number;
  /** Nothing follows these bytes. */
  readonly final: boolean;
}

/** Continues what did not end with the bytes. What follows `end` is still to be searched. */
export type GoOn = (
  bytes: Uint8Array,
  from: number,
  final: boolean,
) => { readonly end: number; readonly open: boolean };

export type Finding =
  | 'none'
  /** More bytes are needed to decide. */
  | 'unsure'
  | { readonly start: number; readonly end: number; readonly open?: GoOn };

/** Something that looks like a secret. */
export interface Shape {
  readonly name: string;
  /**
   * It is tried wherever one of these occurs, `a|b|c`: each has at least three bytes, all ASCII, and is followed by
   * something. It is found by its last four bytes, or by four rarer ones before a `^`.
   */
  readonly literals: string;
  readonly look: (place: LiteralMatch) => Finding;
}

/** A set of bytes. Most are never used: their tables are built on first use. */
export class CharacterSet {
  readonly #ranges: string;
  readonly #except: string;
  #table: Uint8Array | undefined;

  /** Ranges as regular expressions write them: `A-Za-z0-9_`. */
  constructor(ranges: string, except = '') {
    this.#ranges = ranges;
    this.#except = except;
  }

  /** 1 for each byte that is in the set. */
  get table(): Uint8Array {
    return (this.#table ??= tableOf(this.#ranges, this.#except));
  }
}

function tableOf(ranges: string, except: string): Uint8Array {
  const table = new Uint8Array(256);
  for (let i = 0; i < ranges.length; i++) {
    const isRange = ranges[i + 1] === '-' && i + 2 < ranges.length;
    const last = ranges.charCodeAt(isRange ? i + 2 : i);
    for (let code = ranges.charCodeAt(i); code <= last; code++) table[code] = 1;
    if (isRange) i += 2;
  }
  for (const character of except) table[character.charCodeAt(0)] = 0;
  return table;
}

export const WORD = new CharacterSet('A-Za-z0-9_');

/** The end of a run of such characters that begins at `from`. */
export function runEnd(
  bytes: Uint8Array,
  from: number,
  set: CharacterSet,
  limit: number = bytes.length,
): number {
  const { table } = set;
  let end = from;
  while (end < limit && table[bytes[end] as number] === 1) end++;
  return end;
}

export function followsWord({ bytes, start, before }: LiteralMatch, word: CharacterSet = WORD): boolean {
  const previous = start > 0 ? (bytes[start - 1] as number) : before;
  return previous >= 0 && word.table[previous] === 1;
}

export function isAt(bytes: Uint8Array, start: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[start + i] !== text.charCodeAt(i)) return false;
  return true;
}

export function textIn(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, Math.max(0, end - start)).toString('latin1');
}

const runs = new Map<CharacterSet, GoOn>();

function goOnWith(set: CharacterSet): GoOn {
  let run = runs.get(set);
  if (!run) {
    run = (bytes, from, final) => {
      const end = runEnd(bytes, from, set);
      return { end, open: end === bytes.length && !final };
    };
    runs.set(set, run);
  }
  return run;
}

/** How much of a run is needed to decide about it. */
const DECIDE_AT = 64;

export interface RunRule {
  readonly set: CharacterSet;
  readonly min: number;
  /** Exactly this long: with one more character it is something else. */
  readonly exact?: boolean;
  /** What its beginning must look like. */
  readonly like?: RegExp;
}

/** A run of characters that begins at `from`; hidden from `start` on. */
export function runFinding(
  { bytes, final }: LiteralMatch,
  start: number,
  from: number,
  rule: RunRule,
): Finding {
  const end = runEnd(bytes, from, rule.set);
  const ended = end < bytes.length || final;
  const length = end - from;
  if (rule.exact) {
    if (length > rule.min) return 'none';
    if (!ended) return 'unsure';
    return length === rule.min && !(end < bytes.length && WORD.table[bytes[end] as number] === 1)
      ? { start, end }
      : 'none';
  }
  if (!ended && length < (rule.like ? DECIDE_AT : rule.min)) return 'unsure';
  if (length < rule.min) return 'none';
  if (rule.like && !rule.like.test(textIn(bytes, from, Math.min(end, from + DECIDE_AT)))) return 'none';
  return { start, end, ...(!ended && { open: goOnWith(rule.set) }) };
}

/**
 * A literal followed by a run of characters, all of it secret: its name, literals, characters, and minimum length.
 */
export type TokenRow = readonly [
  name: string,
  literals: string,
  ranges: string,
  min: number,
  /** Exactly as many. */
  exact?: true,
];

export function shapeOf([name, literals, ranges, min, exact]: TokenRow): Shape {
  const rule = { set: new CharacterSet(ranges), min, exact: exact ?? false };
  return {
    name,
    literals,
    look: (place) => (followsWord(place) ? 'none' : runFinding(place, place.start, place.after, rule)),
  };
}
