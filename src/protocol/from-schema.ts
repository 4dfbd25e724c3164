/** What a JSON Schema describes, as a type; for our own schemas, written as constants. */
export type FromSchema<S> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly anyOf: readonly (infer One)[] }
      ? FromSchema<One>
      : S extends { readonly type: 'array'; readonly items: infer Items }
        ? readonly FromSchema<Items>[]
        : S extends { readonly type: 'object' }
          ? FromObject<S>
          : S extends { readonly type: keyof Primitives }
            ? Primitives[S['type']]
            : unknown;

interface Primitives {
  string: string;
  integer: number;
  number: number;
  boolean: boolean;
  null: null;
}

type FromObject<S> = S extends {
  readonly properties: infer Fields;
  readonly required: readonly (infer Required)[];
}
  ? Flat<
      { readonly [F in keyof Fields as F extends Required ? F : never]: FromSchema<Fields[F]> } & {
        readonly [F in keyof Fields as F extends Required ? never : F]?: FromSchema<Fields[F]>;
      }
    >
  : S extends { readonly additionalProperties: infer Values }
    ? Readonly<Record<string, FromSchema<Values>>>
    : object;

/** An intersection as one object, so that editors and errors show its fields. */
export type Flat<T> = { [F in keyof T]: T[F] };
