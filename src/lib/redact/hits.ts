/** A stretch of bytes that is not to be shown, and what stands in its place. */
export interface Hit {
  start: number;
  end: number;
  readonly name: string;
  /** It is a value that we know, not something that looks like a secret. */
  readonly known?: boolean;
}

/**
 * In order, and none overlaps another. Where two do, the one that begins first gives its name to both. `before` is what
 * there was already at the very beginning.
 */
export function joinedHits(hits: readonly Hit[], before?: Hit): Hit[] {
  const sorted = hits.toSorted(
    (a, b) => a.start - b.start || Number(b.known ?? false) - Number(a.known ?? false) || b.end - a.end,
  );
  const apart: Hit[] = before ? [{ ...before }] : [];
  for (const hit of sorted) {
    const last = apart.at(-1);
    const touches = last && (hit.start < last.end || (hit.start === last.end && hit.name === last.name));
    if (touches) last.end = Math.max(last.end, hit.end);
    else apart.push({ ...hit });
  }
  return apart;
}

export function placeholder(name: string): string {
  return `[redacted:${name}]`;
}
