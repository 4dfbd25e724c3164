/** The JSON Schemas that tools use for their parameters, and the types that follow from them. */
interface ValueSchema {
  readonly type: 'string' | 'integer' | 'boolean' | 'array';
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: PropertySchema;
}

type PropertySchema = ValueSchema | ParamsSchema;

export interface ParamsSchema {
  readonly type: 'object';
  readonly description?: string;
  readonly properties: Readonly<Record<string, PropertySchema>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

type ValueOf<P> = P extends { enum: readonly (infer E)[] }
  ? E
  : P extends { type: 'string' }
    ? string
    : P extends { type: 'integer' }
      ? number
      : P extends { type: 'boolean' }
        ? boolean
        : P extends { type: 'array'; items: infer I }
          ? readonly ValueOf<I>[]
          : P extends ParamsSchema
            ? ParamsOf<P>
            : unknown;

/** The parameters that a schema lets through. */
export type ParamsOf<S extends ParamsSchema> = {
  readonly [K in keyof S['properties'] & S['required'][number]]: ValueOf<S['properties'][K]>;
} & {
  readonly [K in Exclude<keyof S['properties'], S['required'][number]>]?: ValueOf<S['properties'][K]>;
};
