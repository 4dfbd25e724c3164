/**
 * All places where one sequence occurs in another, without overlaps, in order. Takes time in proportion to their
 * lengths, whatever they contain (Knuth, Morris and Pratt).
 */
export function occurrencesOf<T>(all: ArrayLike<T>, wanted: ArrayLike<T>): number[] {
  const found: number[] = [];
  if (wanted.length === 0) return found;
  const fallback = fallbacks(wanted);
  let matched = 0;
  for (let i = 0; i < all.length; i++) {
    while (matched > 0 && all[i] !== wanted[matched]) matched = fallback[matched - 1] as number;
    if (all[i] === wanted[matched]) matched++;
    if (matched < wanted.length) continue;
    found.push(i - matched + 1);
    matched = 0;
  }
  return found;
}

/** For each beginning of a sequence: how much of it is also its end. */
function fallbacks<T>(wanted: ArrayLike<T>): Uint32Array {
  const table = new Uint32Array(wanted.length);
  let matched = 0;
  for (let i = 1; i < wanted.length; i++) {
    while (matched > 0 && wanted[i] !== wanted[matched]) matched = table[matched - 1] as number;
    if (wanted[i] === wanted[matched]) matched++;
    table[i] = matched;
  }
  return table;
}
