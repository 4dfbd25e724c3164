/** How a path that a command lists is used. */
export interface ListedUse {
  /** Blanks, quotes and wildcards in a name split it. */
  readonly split: boolean;
  /** A folder includes everything below it. */
  readonly trees: boolean;
}

/** Why one of the paths that a command lists may not be read; undefined if all may. */
export type Listing = (use: ListedUse) => string | undefined;

/** One possible result of a word at run time. */
export type Form =
  /** Exactly this text. With wildcards, also the names that match it. */
  | { readonly type: 'text'; readonly text: string; readonly split?: boolean }
  | {
      readonly type: 'listed';
      readonly listing: Listing;
      readonly split?: boolean;
      /** Separated by NULs. */
      readonly nul?: boolean;
      /** Relative to where it is listed. */
      readonly relative?: boolean;
    }
  /** Anything with this ending. */
  | { readonly type: 'unknown'; readonly end: string };

/** All possible results of a word. */
export type Value = readonly Form[];

export const UNKNOWN: Value = [{ type: 'unknown', end: '' }];
export const EMPTY: Value = [{ type: 'text', text: '' }];
/** Digits, perhaps with a sign. */
export const NUMBER: Value = [{ type: 'text', text: '[-0-9]*' }];

const MAX_FORMS = 64;
const MAX_TEXT = 2000;

export function textValue(text: string): Value {
  return text.length > MAX_TEXT ? UNKNOWN : [{ type: 'text', text }];
}

export function hasWildcard(text: string): boolean {
  return /[*?[\\]/.test(text);
}

/** Any of them. */
export function either(...values: readonly Value[]): Value {
  const forms = values.flat();
  const seen = new Set<string>();
  const different = forms.filter((form) => {
    if (form.type !== 'text') return true;
    const key = `${form.split ?? false} ${form.text}`;
    return !seen.has(key) && seen.add(key);
  });
  return different.length > MAX_FORMS ? UNKNOWN : different;
}

/** One directly after the other. */
export function joinedValues(a: Value, b: Value): Value {
  if (a.length * b.length > MAX_FORMS) return UNKNOWN;
  return either(a.flatMap((first) => b.flatMap((second) => joinedForms(first, second))));
}

function joinedForms(a: Form, b: Form): Value {
  if (isEmpty(a)) return [b];
  if (isEmpty(b)) return [a];
  if (b.type === 'listed') return [isHere(a) && b.relative ? b : { type: 'unknown', end: '' }];
  if (b.type === 'unknown') return [b];
  if (a.type === 'text') return textValue(a.text + b.text).map((form) => keepSplit(form, a, b));
  return [{ type: 'unknown', end: (a.type === 'unknown' ? a.end : '') + b.text }];
}

function keepSplit(form: Form, a: Form, b: Form): Form {
  const split = ('split' in a && a.split) || ('split' in b && b.split);
  return split && form.type === 'text' ? { ...form, split } : form;
}

/** `./x` is `x`. */
function isHere(form: Form): boolean {
  return form.type === 'text' && /^(\.\/)+$/.test(form.text);
}

function isEmpty(form: Form): boolean {
  return form.type === 'text' && form.text === '';
}

/** What becomes of a value that is split: each line and word, and the whole, which may be in quotes. */
export function divided(value: Value): Value {
  return either(
    value.flatMap((form): Form[] => {
      switch (form.type) {
        case 'text':
          return [form.text, ...(/\s/.test(form.text) ? literalPieces(form.text) : [])].map((text) => ({
            type: 'text',
            text,
            split: true,
          }));
        case 'listed':
          return [form.nul ? form : { ...form, split: true }];
        case 'unknown':
          return [{ type: 'unknown', end: '' }];
        default:
          return form satisfies never;
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
