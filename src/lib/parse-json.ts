import { isDeeperThan, MAX_DEPTH, tooDeep } from './depth.js';

/** The value of a JSON text. Nesting too deep for later code is a SyntaxError like any other. */
export function parseJson(text: string, levels = MAX_DEPTH): unknown {
  const value: unknown = JSON.parse(text);
  if (isDeeperThan(value, levels)) throw new SyntaxError(tooDeep(levels));
  return value;
}
