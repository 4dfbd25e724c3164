import type { Flat } from './from-schema.js';

declare const TYPE: unique symbol;

/** A JSON Schema that knows the type of what it describes. */
export type Shape<T> = Readonly<Record<string, unknown>> & { readonly [TYPE]: T };

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

// The marks let the bundle leave out shapes that nobody checks by: most runs only need the names beside them.

/** A schema whose type says more than is checked. */
export const shape = /* @__NO_SIDE_EFFECTS__ */ <T>(schema: object): Shape<T> => schema as Shape<T>;

export const string = shape<string>({ type: 'string' });
export const boolean = shape<boolean>({ type: 'boolean' });
export const count = shape<number>({ type: 'integer', minimum: 0 });
export const amount = shape<number>({ type: 'number', minimum: 0 });
export const number = shape<number>({ type: 'number' });
export const integer = shape<number>({ type: 'integer' });
export const anything = shape<unknown>({});
export const hash = shape<string>({ type: 'string', pattern: '^[0-9a-f]{64}$' });

export const only = /* @__NO_SIDE_EFFECTS__ */ <const V>(value: V): Shape<V> => shape({ const: value });
export const oneOf = /* @__NO_SIDE_EFFECTS__ */ <const V>(values: readonly V[]): Shape<V> =>
  shape({ enum: values });
export const listOf = /* @__NO_SIDE_EFFECTS__ */ <T>(items: Shape<T>): Shape<readonly T[]> =>
  shape({ type: 'array', items });
export const mapOf = /* @__NO_SIDE_EFFECTS__ */ <T>(values: Shape<T>): Shape<Readonly<Record<string, T>>> =>
  shape({ type: 'object', additionalProperties: values });
export const either = /* @__NO_SIDE_EFFECTS__ */ <S extends readonly Shape<unknown>[]>(
  ...anyOf: S
): Shape<TypeOf<S[number]>> => shape({ anyOf });
export const optionally = /* @__NO_SIDE_EFFECTS__ */ <T>(one: Shape<T>): Shape<T | null> =>
  shape({ anyOf: [one, { type: 'null' }] });

/** An object of just these fields. */
/* @__NO_SIDE_EFFECTS__ */
export function object<const F extends Fields>(fields: F): Shape<FieldsOf<F>> {
  const properties: Record<string, object> = {};
  const required: string[] = [];
  for (const [field, one] of Object.entries(fields)) {
    const name = field.replace('?', '');
    properties[name] = one;
    if (name === field) required.push(name);
  }
  return shape({ type: 'object', properties, required, additionalProperties: false });
}

/** The same, with any other number besides. */
/* @__NO_SIDE_EFFECTS__ */
export function open<const F extends Fields>(fields: F): Shape<FieldsOf<F>> {
  return shape({ ...object(fields), additionalProperties: amount });
}
