import { sha256 } from './ids.js';

const LONGEST = 64;
const HASH_LENGTH = 16;
const LEGAL = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const MADE_HERE = new RegExp(`_[0-9a-f]{${HASH_LENGTH}}$`);

/**
 * A name that every API takes: at most 64 letters, digits, `_` and `-`, not beginning with a digit or a dash. Such
 * names stay as they are; all others get a hash at the end, so that different names stay different.
 */
export function shortName(name: string): string {
  // A name that looks as if it were made here could collide with one that was.
  if (LEGAL.test(name) && !MADE_HERE.test(name)) return name;
  // By its code units: in UTF-8 all broken characters are the same.
  const hash = sha256(Buffer.from(name, 'utf16le')).slice(0, HASH_LENGTH);
  return `${readablePart(name).slice(0, LONGEST - HASH_LENGTH - 1)}_${hash}`;
}

/** The readable part of a name's short form, before it is cut. */
export function readablePart(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]+/g, '_').replace(/^(?![A-Za-z_])/, '_');
}

/** The readable part of a short name. */
export function withoutHash(name: string): string {
  return name.replace(MADE_HERE, '');
}
