import { setImmediate as nextTurn } from 'node:timers/promises';
import { createContext, Script } from 'node:vm';

/** The code of the error when the time is over. */
export const TIME_LIMIT_CODE = 'ERR_SCRIPT_EXECUTION_TIMEOUT';
/** Matching some files or lines takes no longer, unless a pattern runs away. */
export const PATTERN_MS = 3000;
/** How many items are processed before other work gets a turn. */
const AT_A_TIME = 1000;

const script = new Script('work()');
let context: { work?: () => unknown } | undefined;

/**
 * Runs work that might never end, such as matching an untrusted pattern: even a regular expression that
 * backtracks without end is interrupted. Throws an error with the code above when the time is over.
 */
export function withTimeLimit<T>(ms: number, work: () => T): T {
  context ??= createContext({}) as { work?: () => unknown };
  context.work = work;
  return script.runInContext(context, { timeout: Math.max(1, Math.ceil(ms)) }) as T;
}

/** Runs work with patterns on each of many items, under the same limit. */
export async function eachWithTimeLimit<T>(items: readonly T[], work: (item: T) => void): Promise<void> {
  for (let at = 0; at < items.length; at += AT_A_TIME) {
    if (at > 0) await nextTurn();
    const some = items.slice(at, at + AT_A_TIME);
    withTimeLimit(PATTERN_MS, () => some.forEach((item) => work(item)));
  }
}
