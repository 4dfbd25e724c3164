/** The same value with every text in it changed, keys too. What has nothing to change stays the very same object. */
export function mapTexts<T>(value: T, change: (text: string) => string): T {
  return mapped(value, change) as T;
}

function mapped(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    let changed = false;
    const items = value.map((item: unknown) => {
      const now = mapped(item, change);
      changed ||= now !== item;
      return now;
    });
    return changed ? items : value;
  }
  return mappedObject(value as Readonly<Record<string, unknown>>, change);
}

function mappedObject(value: Readonly<Record<string, unknown>>, change: (text: string) => string): unknown {
  const keys = Object.keys(value);
  let entries: Map<string, unknown> | undefined;
  for (const [i, key] of keys.entries()) {
    const now = mapped(value[key], change);
    const name = change(key);
    if (!entries && now === value[key] && name === key) continue;
    entries ??= new Map(keys.slice(0, i).map((before) => [before, value[before]]));
    entries.set(unused(name, entries), now);
  }
  return entries ? Object.fromEntries(entries) : value;
}

/** Two keys that look alike now are still two. */
function unused(name: string, entries: ReadonlyMap<string, unknown>): string {
  let free = name;
  for (let n = 2; entries.has(free); n++) free = `${name} (${n})`;
  return free;
}
