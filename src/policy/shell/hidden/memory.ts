/*
 * What was seen on the disk is remembered while one call is being decided: every policy looks at the disk, and so does the
 * search for what could allow the call. The run does nothing in between.
 */
const looks = new Map<string, unknown>();
let about: object | undefined;

/** Says which call is being decided. What was seen for another one is forgotten. */
export function beginCall(call: object): void {
  if (call !== about) looks.clear();
  about = call;
}

export function remembered<T>(kind: string, key: string, look: () => T): T {
  const whole = `${kind} ${key}`;
  if (looks.has(whole)) return looks.get(whole) as T;
  // Nothing is kept once the decision is made.
  if (looks.size === 0) setImmediate(() => looks.clear());
  const found = look();
  looks.set(whole, found);
  return found;
}
