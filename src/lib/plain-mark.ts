const plain = new WeakSet<object>();

/** Notes that a JSON Schema is written in the words that every model API takes, and returns it. */
export function markPlain<T extends object>(schema: T): T {
  plain.add(schema);
  return schema;
}

export function isPlain(schema: object): boolean {
  return plain.has(schema);
}
