import type { Value } from './forms.js';
import type { Field } from './readers.js';

/** A word of a command, with all it may be when the command runs. */
export interface OpenWord {
  readonly spelt: string;
  readonly value: Value;
  /** It is used as it is. */
  readonly literal: boolean;
  readonly splits: boolean;
}

const MAX_SHAPES = 32;
const MAX_WAYS = 128;

/**
 * The words that a command may get, in all combinations; undefined if there are too many. What a word may be as a
 * plain operand is not combined with the same of other words: it only appears once.
 */
export function waysOf(words: readonly OpenWord[]): Field[][] | undefined {
  const choices = words.map(outcomesOf);
  const shapes = choices.map((outcomes) => {
    const first = outcomes.find(isPlainField);
    return [...(first ? [first] : []), ...outcomes.filter((outcome) => !isPlainField(outcome))];
  });
  if (shapes.reduce((product, { length }) => product * length, 1) > MAX_SHAPES) return undefined;
  const base = shapes.reduce<Field[][][]>(
    (ways, outcomes) => ways.flatMap((way) => outcomes.map((outcome) => [...way, outcome])),
    [[]],
  );
  const others = choices.flatMap((outcomes, i) =>
    outcomes
      .filter(isPlainField)
      .slice(1)
      .flatMap((outcome) => base.map((way) => way.toSpliced(i, 1, outcome))),
  );
  const ways = [...base, ...others];
  return ways.length > MAX_WAYS ? undefined : ways.map((way) => way.flat());
}

/** The words if there are too many combinations: one that is not literal may be anything. */
export function unclear(words: readonly OpenWord[]): Field[] {
  return words.map(({ spelt, literal, value, splits }) => {
    const [form] = value;
    return { spelt, literal, splits, form: literal && form ? form : { type: 'unknown', end: '' } };
  });
}

/** What one word may become: any number of words. */
function outcomesOf({ spelt, value, literal, splits }: OpenWord): Field[][] {
  if (literal || !splits) return value.map((form) => [{ spelt, literal, form }]);
  return value.flatMap((form): Field[][] => {
    const field = { spelt, literal };
    if (form.type === 'unknown') return [[{ ...field, splits: true, form: { type: 'unknown', end: '' } }]];
    if (form.type === 'listed') return [[{ ...field, form: { ...form, split: true } }]];
    const pieces = form.text.split(/\s+/).filter(Boolean);
    const apart = pieces.map((text): Field => ({ ...field, form: { type: 'text', text, split: true } }));
    return pieces.length > 1 || form.text === ''
      ? [apart, ...(form.text === '' ? [] : [[{ ...field, form }]])]
      : [apart];
  });
}

function isPlainField([field, ...more]: readonly Field[]): boolean {
  return more.length === 0 && field?.form.type === 'text' && /^[^-]/.test(field.form.text);
}
