import type { Flat } from './from-schema.js';

declare const TYPE: unique symbol;

/** Under this key every shape says how secrets are redacted. It is not part of the schema. */
export const REDACTION: unique symbol = Symbol('redaction');

export type Redaction =
  /** Numbers, and our own words: never secret, and no event could be read without them. */
  | 'none'
  /** Names that connect events: only values known to be secret are removed from them. */
  | 'known'
  /** A text, whoever wrote it. */
  | 'text'
  /** A value from outside: even the names of its fields are. */
  | 'value'
  /** What a resumed run depends on: the user's own words, in which the user's patterns are not looked for. */
  | 'kept'
  /** What the model said, or was told. */
  | 'content'
  | 'parts'
  | { readonly items: Redaction }
  | { readonly values: Redaction }
  | { readonly fields: Readonly<Record<string, Redaction>> };

/** A JSON Schema that knows the type of what it describes, and how secrets are removed from that. */
export type Shape<T> = Readonly<Record<string, unknown>> & {
  readonly [TYPE]: T;
  readonly [REDACTION]: Redaction;
};

/** What a shape describes. */
export type TypeOf<S> = S extends Shape<infer T> ? T : never;

/** Fields of an object; a name that ends in `?` may be absent. */
export type Fields = Readonly<Record<string, Shape<unknown>>>;

/** An object of such fields. */
export type FieldsOf<F> = Flat<
  { readonly [Name in keyof F as Name extends `${string}?` ? never : Name]: TypeOf<F[Name]> } & {
    readonly [Name in keyof F as Name extends `${infer Bare}?` ? Bare : never]?: TypeOf<F[Name]>;
  }
>;

/** A schema whose type says more than is checked. */
export function shape<T>(schema: object, redaction: Redaction): Shape<T> {
  return { ...schema, [REDACTION]: redaction } as unknown as Shape<T>;
}

const STRING = { type: 'string' };

/** May contain a secret: all that people, models, tools, files and systems say. */
export const text = shape<string>(STRING, 'text');
/** What connects events, or is named by others. */
export const name = shape<string>(STRING, 'known');
/** One of our own words, or a number in letters. */
export const word = shape<string>(STRING, 'none');
/** A value from outside, as it came. */
export const anything = shape<unknown>({}, 'value');

export const boolean = shape<boolean>({ type: 'boolean' }, 'none');
export const count = shape<number>({ type: 'integer', minimum: 0 }, 'none');
export const amount = shape<number>({ type: 'number', minimum: 0 }, 'none');
export const number = shape<number>({ type: 'number' }, 'none');
export const integer = shape<number>({ type: 'integer' }, 'none');
export const hash = shape<string>({ ...STRING, pattern: '^[0-9a-f]{64}$' }, 'none');

export const only = <const V>(value: V): Shape<V> => shape({ const: value }, 'none');
export const oneOf = <const V>(values: readonly V[]): Shape<V> => shape({ enum: values }, 'none');
/** A shape whose secrets are not redacted as elsewhere: the user's own words are needed as they are. */
export const kept = <T>(one: Shape<T>): Shape<T> => shape(one, 'kept');

export function listOf<T>(items: Shape<T>): Shape<readonly T[]> {
  const inside = items[REDACTION];
  return shape({ type: 'array', items }, inside === 'none' ? 'none' : { items: inside });
}

/** Keyed by names from outside. */
export function mapOf<T>(values: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return shape({ type: 'object', additionalProperties: values }, { values: values[REDACTION] });
}

export function either<S extends readonly Shape<unknown>[]>(...anyOf: S): Shape<TypeOf<S[number]>> {
  return shape({ anyOf }, mergedRedaction(anyOf.map((one) => one[REDACTION])));
}

export function optionally<T>(one: Shape<T>): Shape<T | null> {
  return shape({ anyOf: [one, { type: 'null' }] }, one[REDACTION]);
}

/** For alternative shapes. */
function mergedRedaction(redactions: readonly Redaction[]): Redaction {
  const needed = redactions.filter((one) => one !== 'none');
  const [first = 'none'] = needed;
  const tables = needed.flatMap((one) => (typeof one === 'object' && 'fields' in one ? [one.fields] : []));
  if (tables.length === needed.length && tables.length > 1) return { fields: Object.assign({}, ...tables) };
  if (needed.length > 1) throw new Error('shapes that take the place of each other have one redaction');
  return first;
}

/** An object of exactly these fields. */
export function object<const F extends Fields>(fields: F): Shape<FieldsOf<F>> {
  const properties: Record<string, object> = {};
  const required: string[] = [];
  for (const [field, one] of Object.entries(fields)) {
    const bare = field.replace('?', '');
    properties[bare] = one;
    if (bare === field) required.push(bare);
  }
  return shape({ type: 'object', properties, required, additionalProperties: false }, redactionOf(fields));
}

/** How secrets are removed from an object with these fields. */
export function redactionOf(fields: Fields): Redaction {
  const each = Object.entries(fields).map(
    ([field, one]) => [field.replace('?', ''), one[REDACTION]] as const,
  );
  return each.every(([, one]) => one === 'none') ? 'none' : { fields: Object.fromEntries(each) };
}

/** An object of these fields and other numbers. */
export function openObject<const F extends Fields>(fields: F): Shape<FieldsOf<F>> {
  const closed = object(fields);
  return shape({ ...closed, additionalProperties: amount }, closed[REDACTION]);
}
