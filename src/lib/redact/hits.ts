/** A range of bytes to hide, and what replaces it. */
export interface Hit {
  start: number;
  end: number;
  readonly name: string;
  /** A known value, not just something that looks like a secret. */
  readonly known?: boolean;
}

/**
 * In order, without overlaps. If two overlap, the one that begins first gives both its name. `before` is a hit that
 * already covers the very beginning.
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
