import { isSection, type Extend, type Group, type Key, type Section } from './keys/row.js';

type Values = Readonly<Record<string, unknown>>;

/** A file's values over those of what it extends: lists add up, single values override. */
export function extended(group: Group, base: object, over: object): Values {
  const [below, above] = [base, over] as [Values, Values];
  const values: Record<string, unknown> = {};
  for (const [name, node] of Object.entries(group)) {
    const value = isSection(node)
      ? sectionOf(node, below[name], above[name])
      : extendedValue(node, below[name], above[name]);
    if (value !== undefined) values[name] = value;
  }
  return values;
}

function sectionOf({ at, rows }: Section, base: unknown, over: unknown): unknown {
  if (at !== undefined && base === undefined && over === undefined) return undefined;
  return extended(rows, { ...emptyOf(rows), ...(base as object) }, (over ?? {}) as object);
}

function emptyOf(rows: Group): Values {
  const entries = Object.entries(rows).filter(([, node]) => 'empty' in node);
  return Object.fromEntries(entries.map(([name, node]) => [name, (node as Key).empty]));
}

function extendedValue({ extend }: Key, base: unknown, over: unknown): unknown {
  if (base === undefined || over === undefined) return over ?? base;
  const add = typeof extend === 'function' ? extend : WAYS[extend];
  return add(base as never, over as never);
}

const WAYS: Readonly<Record<Extend, (base: never, over: never) => unknown>> = {
  override: (_base, over) => over,
  add: (base: readonly string[], over: readonly string[]) => [...new Set([...base, ...over])],
  append: (base: readonly unknown[], over: readonly unknown[]) => [...base, ...over],
  merge: (base: object, over: object) => ({ ...base, ...over }),
};
