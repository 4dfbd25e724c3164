/** Removes rounding errors of decimal fractions; nobody charges less than a billionth of a dollar. */
export function roundDollars(dollars: number): number {
  return Math.round(dollars * 1e9) / 1e9;
}

/** `$12.30`, `$0.50`, `$0.0141`: two digits at least, and small amounts down to a millionth. */
export function formatDollars(dollars: number): string {
  if (dollars > 0 && dollars < 0.000001) return '<$0.000001';
  const digits = dollars.toFixed(dollars >= 1 ? 2 : 6);
  return `$${digits.replace(/(\.\d\d\d*?)0+$/, '$1')}`;
}
