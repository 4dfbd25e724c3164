/** A value with every text in it changed, keys too. If nothing changes, it is the same object. */
export function mapTexts<T>(value: T, change: (text: string) => string): T {
  return mapped(value, change) as T;
}

function mapped(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return mapItems(value, (item) => mapped(item, change));
  return mapFields(value, (_key, field) => mapped(field, change), change);
}

/** Arrays and objects are copied only if something in them changes: most never do. */
export function mapItems(items: readonly unknown[], change: (item: unknown) => unknown): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let i = 0; i < items.length; i++) {
    const now = change(items[i]);
    if (!copy && now === items[i]) continue;
    copy ??= items.slice(0, i);
    copy.push(now);
  }
  return copy ?? items;
}

export function mapFields<T extends object>(
  value: T,
  change: (key: string, field: unknown) => unknown,
  rename: (key: string) => string,
): T {
  const fields = value as Readonly<Record<string, unknown>>;
  const keys = Object.keys(fields);
  let copy: FieldsByName | undefined;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    const now = change(key, fields[key]);
    const name = rename(key);
    if (!copy && now === fields[key] && name === key) continue;
    copy ??= new FieldsByName(keys.slice(0, i).map((before) => [before, fields[before]]));
    copy.add(name, now);
  }
  return copy ? (Object.fromEntries(copy) as T) : value;
}

/** Two names that have become equal are still two. */
class FieldsByName extends Map<string, unknown> {
  readonly #taken = new Map<string, number>();

  add(name: string, field: unknown): void {
    let free = name;
    let n = this.#taken.get(name) ?? 1;
    while (this.has(free)) free = `${name} (${++n})`;
    this.#taken.set(name, n);
    this.set(free, field);
  }
}
