/** Divides a total: what needs less than an equal share leaves the rest to the others. */
export function fairShares(needs: readonly number[], total: number): number[] {
  const shares = needs.map(() => 0);
  const order = [...needs.keys()].sort((a, b) => (needs[a] as number) - (needs[b] as number));
  let left = total;
  order.forEach((index, i) => {
    const share = Math.min(needs[index] as number, Math.floor(left / (order.length - i)));
    shares[index] = share;
    left -= share;
  });
  return shares;
}
