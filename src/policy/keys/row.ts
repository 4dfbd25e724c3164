import type { Flat, FromSchema } from '../../protocol/from-schema.js';
import type { PolicySource } from '../place.js';

/** How a file adds to what it extends, value by value. */
export type Extend = 'override' | 'add' | 'append' | 'merge';

/**
 * How the values of several policies become one. `own`: not at all, each policy is judged by its own. `each`: a list of
 * them. `shared`: what all of them have. `first`: that of the first policy that sets it. `strictest`: by `order`.
 */
export type Combine =
  'own' | 'each' | 'smallest' | 'strictest' | 'union' | 'shared' | 'merge' | 'first' | 'any';

/** What a flag may do to what policies say. `tighten` and `narrow` differ if a flag is wider: that is an error. */
export type FlagUse = 'tighten' | 'narrow' | 'add' | 'demand';

/** All about one key of a policy. `Written` is what its schema describes, `Read` what readers take. */
export interface Row<Written, Read = Written> {
  /** Its path in a policy. */
  readonly key: string;
  /** Its section requires it. */
  readonly required?: true;
  /** Converts what is written, if it means something else. */
  readonly parse?: (written: Read) => unknown;
  /** Like `parse`, for errors that a schema cannot express. Throws a Problem with the place. */
  readonly read?: (written: Read, source: PolicySource) => unknown;
  /** The value in a policy that does not set it; without it, none. */
  readonly empty?: unknown;
  /** What applies if nothing sets it, as written in a policy. */
  readonly default?: Written;
  /** A policy that does not set it counts with the default. */
  readonly silent?: 'default';
  readonly extend: Extend | ((base: never, over: never) => unknown);
  readonly combine: Combine | Combining;
  /** For `strictest`: from the widest to the strictest. */
  readonly order?: readonly Written[];
  /** Without a name, it is only for library users. */
  readonly flag?: { readonly name?: string; readonly may: FlagUse };
}

/** A way to combine that only one key uses. */
export interface Combining {
  readonly words: string;
  readonly of: (values: never) => unknown;
}

/** A row with its schema, whose description is the key's documentation. */
export type Key = Row<unknown, never> & { readonly schema: { readonly description: string } };

/** Keys under names of a document. With `at`, present only if the policy has that section, however empty. */
export interface Section {
  readonly rows: Group;
  readonly at?: string;
  /** Each policy that has it counts on its own. */
  readonly each?: true;
}
export interface Group {
  readonly [name: string]: Key | Section;
}

export function key<
  const Schema extends { readonly description: string },
  const R extends Row<FromSchema<Schema>>,
>(schema: Schema, row: R): R & { readonly schema: Schema } {
  return { ...row, schema };
}

export function isSection(node: Key | Section): node is Section {
  return 'rows' in node;
}

/** All rows of a table, in order. */
export function keyRows(group: Group): Key[] {
  return Object.values(group).flatMap((node) => (isSection(node) ? keyRows(node.rows) : [node]));
}

/** The value of a key in a document. */
export type ValueOf<K> = K extends { readonly read: (...args: never) => infer Value }
  ? Unchanging<Awaited<Value>>
  : K extends { readonly parse: (...args: never) => infer Value }
    ? Value
    : K extends { readonly schema: infer Schema }
      ? FromSchema<Schema>
      : never;

type Unchanging<T> = T extends readonly (infer One)[] ? readonly One[] : T;

/** A name that is always present: in documents, and in what is folded from several. */
type Always = { readonly empty: unknown } | Section;
type Settled =
  | Always
  | { readonly default: unknown }
  | { readonly combine: 'each' | 'any' | { readonly of: (values: never) => unknown } };

/** The document of a policy, by its table of keys. */
export type DocumentOf<G> = Flat<
  { readonly [N in keyof G as G[N] extends Always ? N : never]: MemberOf<G[N]> } & {
    readonly [N in keyof G as G[N] extends Always ? never : N]?: MemberOf<G[N]>;
  }
>;
type MemberOf<K> = K extends { readonly rows: infer G }
  ? K extends { readonly at: string }
    ? DocumentOf<G> | undefined
    : DocumentOf<G>
  : ValueOf<K>;

/** Several policies folded. Keys by which each policy is judged on its own are left out. */
export type EffectiveOf<G> = Flat<
  { readonly [N in keyof G as G[N] extends Settled ? CombinedName<G, N> : never]: CombinedOf<G[N]> } & {
    readonly [N in keyof G as G[N] extends Settled ? never : CombinedName<G, N>]?: CombinedOf<G[N]>;
  }
>;
type CombinedName<G, N extends keyof G> = G[N] extends { readonly combine: 'own' } ? never : N;
type CombinedOf<K> = K extends { readonly rows: infer G }
  ? K extends { readonly each: true }
    ? readonly DocumentOf<G>[]
    : EffectiveOf<G>
  : K extends { readonly combine: { readonly of: (values: never) => infer Combined } }
    ? Combined
    : K extends { readonly combine: 'each' }
      ? readonly ValueOf<K>[]
      : ValueOf<K>;

/** What flags may set, under the same names. */
export type FlagsOf<G> = Flat<{
  readonly [N in keyof G as HasFlag<G[N]> extends true ? N : never]?: G[N] extends {
    readonly rows: infer Rows;
  }
    ? FlagsOf<Rows>
    : ValueOf<G[N]> | undefined;
}>;
type HasFlag<K> = K extends { readonly flag: unknown }
  ? true
  : K extends { readonly rows: infer Rows }
    ? true extends { [N in keyof Rows]: HasFlag<Rows[N]> }[keyof Rows]
      ? true
      : false
    : false;
