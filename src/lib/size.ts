const UNITS: Readonly<Record<string, number>> = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

/** `512MiB`, `4GiB`: in bytes; undefined if it is not such a size. */
export function parseSize(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d{1,6}(?:\.\d{1,3})?)(KiB|MiB|GiB)$/.exec(text) ?? [];
  return amount === undefined ? undefined : Math.round(Number(amount) * (UNITS[unit] as number));
}

/** `256 MiB`, `1.5 KiB`, `12 bytes`. */
export function formatSize(bytes: number): string {
  const [unit, factor] = Object.entries(UNITS).findLast(([, size]) => bytes >= size) ?? ['bytes', 1];
  return `${Math.round((bytes / factor) * 10) / 10} ${unit}`;
}
