/*
 * Looks at the disk are remembered while one call is decided about: by each policy, and again for what could allow it.
 * Nothing that a run does happens in between.
 */
const looks = new Map<string, unknown>();
let about: object | undefined;

/** Says which call is decided about now. What was seen for another one is forgotten. */
export function lookFor(call: object): void {
  if (call !== about) looks.clear();
  about = call;
}

export function remembered<T>(kind: string, key: string, look: () => T): T {
  const whole = `${kind} ${key}`;
  if (looks.has(whole)) return looks.get(whole) as T;
  // It is not kept for longer than it may be needed.
  if (looks.size === 0) setImmediate(() => looks.clear());
  const found = look();
  looks.set(whole, found);
  return found;
}
