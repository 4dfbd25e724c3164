/** Several statements, some undefined: one no is enough, and one yes is needed. Undefined if all are. */
export function agreed(says: readonly (boolean | undefined)[]): boolean | undefined {
  if (says.includes(false)) return false;
  return says.includes(true) ? true : undefined;
}
