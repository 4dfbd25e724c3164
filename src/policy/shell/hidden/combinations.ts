import type { PossibleTexts } from './possible-texts.js';
import type { Field } from './readers.js';

/** A word of a command, with all it may be when the command runs. */
export interface OpenWord {
  readonly spelt: string;
  readonly value: PossibleTexts;
  /** It is used as it is. */
  readonly literal: boolean;
  readonly splits: boolean;
}

const MAX_SHAPES = 32;
const MAX_COMBINATIONS = 128;

/**
 * The words that a command may get, in all combinations; undefined if there are too many. Plain operands that words
 * may become are not combined with each other: each appears in at least one combination.
 */
export function combinationsOf(words: readonly OpenWord[]): Field[][] | undefined {
  const choices = words.map(fieldChoices);
  const shapes = choices.map((fieldLists) => {
    const first = fieldLists.find(isPlainField);
    return [...(first ? [first] : []), ...fieldLists.filter((fields) => !isPlainField(fields))];
  });
  if (shapes.reduce((product, { length }) => product * length, 1) > MAX_SHAPES) return undefined;
  const base = shapes.reduce<Field[][][]>(
    (ways, fieldLists) => ways.flatMap((way) => fieldLists.map((fields) => [...way, fields])),
    [[]],
  );
  const others = choices.flatMap((fieldLists, i) =>
    fieldLists
      .filter(isPlainField)
      .slice(1)
      .flatMap((fields) => base.map((way) => way.toSpliced(i, 1, fields))),
  );
  const ways = [...base, ...others];
  return ways.length > MAX_COMBINATIONS ? undefined : ways.map((way) => way.flat());
}

/** The words if there are too many combinations: one that is not literal may be anything. */
export function uncombined(words: readonly OpenWord[]): Field[] {
  return words.map(({ spelt, literal, value, splits }) => {
    const [possible] = value;
    return {
      spelt,
      literal,
      splits,
      possible: literal && possible ? possible : { type: 'unknown', end: '' },
    };
  });
}

/** What one word may become: any number of words. */
function fieldChoices({ spelt, value, literal, splits }: OpenWord): Field[][] {
  if (literal || !splits) return value.map((possible) => [{ spelt, literal, possible }]);
  return value.flatMap((possible): Field[][] => {
    const field = { spelt, literal };
    if (possible.type === 'unknown')
      return [[{ ...field, splits: true, possible: { type: 'unknown', end: '' } }]];
    if (possible.type === 'listed') return [[{ ...field, possible: { ...possible, split: true } }]];
    const pieces = possible.text.split(/\s+/).filter(Boolean);
    const apart = pieces.map((text): Field => ({ ...field, possible: { type: 'text', text, split: true } }));
    return pieces.length > 1 || possible.text === ''
      ? [apart, ...(possible.text === '' ? [] : [[{ ...field, possible }]])]
      : [apart];
  });
}

function isPlainField([field, ...more]: readonly Field[]): boolean {
  return more.length === 0 && field?.possible.type === 'text' && /^[^-]/.test(field.possible.text);
}
