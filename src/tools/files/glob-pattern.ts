import { isAbsolute, posix } from 'node:path';
import { globMatcher } from '../../lib/glob.js';

/** A pattern, and the folder that it starts from. */
export interface LocatedPattern {
  readonly folder: string;
  readonly pattern: string;
}

const MAGIC = /[*?[\]{}()\\]/;
/** Longer ones are not written by hand, and take long to match. */
const MAX_PATTERN = 1000;
const MAX_GROUPS = 50;

export function hasWildcard(pattern: string): boolean {
  return MAGIC.test(pattern);
}

/** What is wrong with a pattern, in a sentence. */
export function patternFault(pattern: string): string | undefined {
  if (pattern.length > MAX_PATTERN) return `a pattern has more than ${MAX_PATTERN} characters`;
  if (pattern.split(/[({]/).length > MAX_GROUPS + 1)
    return `a pattern has more than ${MAX_GROUPS} braces and parentheses`;
  const segments = pattern.split('/');
  const wild = segments.findIndex((segment) => MAGIC.test(segment));
  if (wild >= 0 && segments.slice(wild).includes('..')) return `${pattern} leads up again after a wildcard`;
  try {
    globMatcher([pattern]);
    return undefined;
  } catch {
    return `${pattern} cannot be read as a pattern`;
  }
}

/**
 * Where a pattern begins to be one. Only what leaves the folder is removed from its front (`../x/*`, `/x/*`):
 * names are matched like everything else, since their case may not count.
 */
export function locatePattern(pattern: string, folder = '.'): LocatedPattern {
  const segments = pattern.split('/');
  const wild = segments.findIndex((segment) => MAGIC.test(segment));
  const fixed = wild < 0 ? segments.length - 1 : wild;
  const leaves = isAbsolute(pattern) || segments.slice(0, fixed + 1).includes('..');
  if (!leaves) return { folder, pattern: posix.normalize(pattern) };
  const front = segments.slice(0, fixed).join('/');
  const start = isAbsolute(pattern) ? front || '/' : posix.join(folder, front);
  const rest = segments.slice(fixed).join('/');
  return rest === '..'
    ? { folder: posix.join(start, '..'), pattern: '.' }
    : { folder: start, pattern: rest || '.' };
}

export interface PatternMatcher {
  matches(path: string): boolean;
  /** False for a folder in which nothing can match. */
  enter(path: string): boolean;
}

/** Matches paths below the folder of a pattern, and says which folders to enter. */
export function patternMatcher(pattern: string, { ignoreCase = false } = {}): PatternMatcher {
  const folded = (name: string) => (ignoreCase ? name.toLowerCase() : name);
  const segments = pattern.split('/').map(folded);
  const wild = segments.findIndex((segment) => MAGIC.test(segment));
  const names = segments.slice(0, wild < 0 ? segments.length : wild);
  // Braces and the like may hide slashes: only plain stars and names have a known depth.
  const isShallow = segments.every((segment) => /^[^[\]{}()\\]*$/.test(segment) && segment !== '**');
  const depth = isShallow ? segments.length : Infinity;
  const fits = globMatcher([pattern], { ignoreCase });
  const literal = folded(pattern);
  return {
    // A name such as `[id].ts` may be meant literally.
    matches: (path) => fits(path) || folded(path) === literal,
    enter: (path) => {
      const steps = folded(path).split('/');
      const leads = (to: readonly string[]) => steps.every((step, i) => i >= to.length || to[i] === step);
      return (steps.length < depth && leads(names)) || (steps.length < segments.length && leads(segments));
    },
  };
}
