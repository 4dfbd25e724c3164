/** Bytes of a text, as external limits count them. */
export const byteLength = (text: string): number => Buffer.byteLength(text);

export interface Fitted {
  readonly kept: readonly string[];
  readonly left: number;
}

/** As many whole items from the beginning as fit. */
export function fitItems(items: readonly string[], room: number): Fitted {
  let used = 0;
  let end = 0;
  for (; end < items.length; end++) {
    used += byteLength(items[end] as string);
    if (used > room) break;
  }
  return { kept: items.slice(0, end), left: items.length - end };
}
