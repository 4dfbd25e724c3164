import { isDeeperThan, MAX_DEPTH, tooDeep } from './depth.js';

/** The value of a JSON text. What is nested too deep for what comes after is a SyntaxError like any other. */
export function parseJson(text: string, levels = MAX_DEPTH): unknown {
  const value: unknown = JSON.parse(text);
  if (isDeeperThan(value, levels)) throw new SyntaxError(tooDeep(levels));
  return value;
}
