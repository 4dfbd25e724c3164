import type { Dialect } from './model.js';

/** Thrown inside a reading; the caller gets the reason as data. */
export class Unreadable extends Error {}

export function refuse(reason: string): never {
  throw new Unreadable(reason);
}

/** Some of what sh does not know it takes for something else: to it `[[ a || b ]]` and `((b))` run b. */
export function onlyInBash(dialect: Dialect, what: string): void {
  if (dialect === 'sh') refuse(`sh does not know ${what}; only bash does`);
}
