import { sha256 } from './ids.js';

/** What every API takes for the name of a function. */
const LEGAL = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const LONGEST = 64;
const HASH_LENGTH = 10;

/**
 * A name that APIs take: the name itself where that is possible, else what is left of it and a hash of the whole.
 * Different names stay different: one that somebody else has is given another hash.
 */
export function legalName(name: string, isTaken: (name: string) => boolean = () => false): string {
  if (LEGAL.test(name) && name.length <= LONGEST && !isTaken(name)) return name;
  const plain = name.replaceAll(/[^A-Za-z0-9_-]/g, '_').replace(/^(?![A-Za-z_])/, '_');
  const kept = plain.slice(0, LONGEST - HASH_LENGTH - 1);
  for (let attempt = 0; ; attempt++) {
    const hash = sha256(attempt === 0 ? name : `${name}\0${attempt}`).slice(0, HASH_LENGTH);
    const candidate = `${kept}_${hash}`;
    if (!isTaken(candidate)) return candidate;
  }
}
