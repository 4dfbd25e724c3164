/** An object without the keys whose value is undefined. */
export function withoutUndefined<T extends object>(
  values: T,
): { readonly [Key in keyof T]?: Exclude<T[Key], undefined> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Key in keyof T]?: Exclude<T[Key], undefined> };
}
