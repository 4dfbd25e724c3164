/** An entry of a table by a name from outside. `constructor` and its like are in every object, and in no table. */
export function own<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
