/** JSON from outside that is nested deeper is rejected where it comes in: later code processes it level by level. */
export const MAX_DEPTH = 200;

/** The end of a sentence about what is too deep. */
export function tooDeep(levels = MAX_DEPTH): string {
  return `it is nested deeper than ${levels} levels`;
}

export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  const inner: unknown[] = Array.isArray(value) ? value : Object.values(value);
  return inner.some((one) => isDeeperThan(one, levels - 1));
}

/** How many values a value contains, including itself; at most one more than the limit. */
export function sizeUpTo(limit: number, value: unknown): number {
  let size = 0;
  const open: unknown[] = [value];
  while (open.length > 0 && size <= limit) {
    const next = open.pop();
    size++;
    if (typeof next !== 'object' || next === null) continue;
    // Not `push(...)`: there may be more than the most arguments of a call.
    for (const inner of Array.isArray(next) ? next : Object.values(next)) open.push(inner);
  }
  return size;
}

const LF = 10;
const QUOTE = 34;
const BACKSLASH = 92;
const OPENING = new Set([...'[{'].map((bracket) => bracket.charCodeAt(0)));
const CLOSING = new Set([...']}'].map((bracket) => bracket.charCodeAt(0)));

/** Looks at JSON piece by piece; true once it is nested deeper than `levels`. Every line is its own text. */
export function depthMeter(levels: number): (piece: Uint8Array) => boolean {
  let depth = 0;
  let isString = false;
  let isEscaped = false;
  return (piece) => {
    for (const byte of piece) {
      if (byte === LF) {
        depth = 0;
        isString = false;
        isEscaped = false;
      } else if (isString) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isString = false;
      } else if (byte === QUOTE) isString = true;
      else if (OPENING.has(byte)) depth++;
      else if (CLOSING.has(byte)) depth--;
      if (depth > levels) return true;
    }
    return false;
  };
}
