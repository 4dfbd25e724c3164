import { createContext, Script } from 'node:vm';

/** What is thrown when the time is over. */
export const TIME_LIMIT_CODE = 'ERR_SCRIPT_EXECUTION_TIMEOUT';

const script = new Script('work()');
let context: { work?: () => unknown } | undefined;

/**
 * Runs work that might never end, such as matching a pattern that a stranger wrote: a regular expression that
 * backtracks without end is interrupted too. Throws an error with the code above when the time is over.
 */
export function withTimeLimit<T>(ms: number, work: () => T): T {
  context ??= createContext({}) as { work?: () => unknown };
  context.work = work;
  return script.runInContext(context, { timeout: Math.max(1, Math.ceil(ms)) }) as T;
}
