/** One function for each type of a union: leaving one out does not compile. */
export type ByType<Union extends { readonly type: string }, Result> = {
  readonly [Type in Union['type']]: (one: Extract<Union, { readonly type: Type }>) => Result;
};

/** Calls the function for the type of a value; undefined for a type that was added to the union later. */
export function byType<Union extends { readonly type: string }, Result>(
  table: ByType<Union, Result>,
  one: Union,
): Result | undefined {
  const chosen = table[one.type as Union['type']] as ((value: Union) => Result) | undefined;
  return chosen?.(one);
}
