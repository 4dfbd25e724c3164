/** What is nested deeper than this cannot be written down again safely. */
export const MAX_DEPTH = 200;

export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}
