/** How a path that a command lists is used. */
export interface ListedUse {
  /** Blanks, quotes and wildcards in a name split it. */
  readonly split: boolean;
  /** A folder includes everything below it. */
  readonly recursive: boolean;
}

/** Why one of the paths that a command lists may not be read; undefined if all may. */
export type ListingFault = (use: ListedUse) => string | undefined;

/** One possible result of a word at run time. */
export type PossibleText =
  /** Exactly this text. With wildcards, also the names that match it. */
  | { readonly type: 'text'; readonly text: string; readonly split?: boolean }
  | {
      readonly type: 'listed';
      readonly listing: ListingFault;
      readonly split?: boolean;
      /** Separated by NULs. */
      readonly nul?: boolean;
      /** Relative to where it is listed. */
      readonly relative?: boolean;
    }
  /** Anything with this ending. */
  | { readonly type: 'unknown'; readonly end: string };

/** All possible results of a word. */
export type PossibleTexts = readonly PossibleText[];

export const UNKNOWN: PossibleTexts = [{ type: 'unknown', end: '' }];
export const EMPTY: PossibleTexts = [{ type: 'text', text: '' }];
/** Digits, perhaps with a sign. */
export const NUMBER: PossibleTexts = [{ type: 'text', text: '[-0-9]*' }];

const MAX_POSSIBLE = 64;
const MAX_TEXT = 2000;

export function exactText(text: string): PossibleTexts {
  return text.length > MAX_TEXT ? UNKNOWN : [{ type: 'text', text }];
}

export function hasShellWildcard(text: string): boolean {
  return /[*?[\\]/.test(text);
}

/** Any of them. */
export function unionOf(...values: readonly PossibleTexts[]): PossibleTexts {
  const possible = values.flat();
  const seen = new Set<string>();
  const different = possible.filter((one) => {
    if (one.type !== 'text') return true;
    const key = `${one.split ?? false} ${one.text}`;
    return !seen.has(key) && seen.add(key);
  });
  return different.length > MAX_POSSIBLE ? UNKNOWN : different;
}

/** One directly after the other. */
export function concatenated(a: PossibleTexts, b: PossibleTexts): PossibleTexts {
  if (a.length * b.length > MAX_POSSIBLE) return UNKNOWN;
  return unionOf(a.flatMap((first) => b.flatMap((second) => concatenatedTexts(first, second))));
}

function concatenatedTexts(a: PossibleText, b: PossibleText): PossibleTexts {
  if (isEmpty(a)) return [b];
  if (isEmpty(b)) return [a];
  if (b.type === 'listed') return [isHere(a) && b.relative ? b : { type: 'unknown', end: '' }];
  if (b.type === 'unknown') return [b];
  if (a.type === 'text') return exactText(a.text + b.text).map((one) => keepSplit(one, a, b));
  return [{ type: 'unknown', end: (a.type === 'unknown' ? a.end : '') + b.text }];
}

function keepSplit(one: PossibleText, a: PossibleText, b: PossibleText): PossibleText {
  const split = ('split' in a && a.split) || ('split' in b && b.split);
  return split && one.type === 'text' ? { ...one, split } : one;
}

/** `./x` is `x`. */
function isHere(one: PossibleText): boolean {
  return one.type === 'text' && /^(\.\/)+$/.test(one.text);
}

function isEmpty(one: PossibleText): boolean {
  return one.type === 'text' && one.text === '';
}

/** What becomes of a value that is split: each line and word, and the whole, which may be in quotes. */
export function splitTexts(value: PossibleTexts): PossibleTexts {
  return unionOf(
    value.flatMap((one): PossibleText[] => {
      switch (one.type) {
        case 'text':
          return [one.text, ...(/\s/.test(one.text) ? literalPieces(one.text) : [])].map((text) => ({
            type: 'text',
            text,
            split: true,
          }));
        case 'listed':
          return [one.nul ? one : { ...one, split: true }];
        case 'unknown':
          return [{ type: 'unknown', end: '' }];
        default:
          return one satisfies never;
      }
    }),
  );
}

function literalPieces(text: string): string[] {
  const lines = text.split(/\n+/);
  // `read` removes the blanks around a line.
  const trimmed = lines.map((line) => line.trim());
  return [...lines, ...trimmed, ...text.split(/\s+/)].filter(Boolean);
}
