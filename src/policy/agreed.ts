/** What several say of which some say nothing: one no is enough, and one yes is needed. Undefined if nobody says anything. */
export function agreed(says: readonly (boolean | undefined)[]): boolean | undefined {
  if (says.includes(false)) return false;
  return says.includes(true) ? true : undefined;
}
