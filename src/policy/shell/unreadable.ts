import type { Dialect } from './model.js';

/** Thrown while a script is read; the caller gets the reason as data. */
export class Unreadable extends Error {}

export function reject(reason: string): never {
  throw new Unreadable(reason);
}

/** sh reads some syntax that it does not know as something else: for it, `[[ a || b ]]` and `((b))` run b. */
export function onlyInBash(dialect: Dialect, what: string): void {
  if (dialect === 'sh') reject(`sh does not know ${what}; only bash does`);
}
