import { isAbsolute } from 'node:path';
import picomatch from 'picomatch';
import { entriesIn } from './folders.js';
import { pathNamed } from './real-path.js';

/** Matches paths with `/` against glob patterns. Dot files are files, and `x/**` also matches `x`. */
export function globMatcher(
  patterns: readonly string[],
  { ignoreCase = false } = {},
): (path: string) => boolean {
  const globs = patterns.map((pattern) => pattern.replace(/^\.\//, '') || '.');
  // A name may contain line breaks, which a dot must match.
  const options = { dot: true, nonegate: true, strictSlashes: false, flags: ignoreCase ? 'is' : 's' };
  // Picomatch's own matcher records every group, which costs more than the match.
  const expressions = globs.map((glob) => picomatch.makeRe(glob, options));
  return (path) => {
    for (let i = 0; i < globs.length; i++)
      if (path !== '' && (path === globs[i] || expressions[i]?.test(path))) return true;
    return false;
  };
}

/** What a piece of a segment matches: any run of characters, or one character. */
type Piece = 'run' | ((character: string) => boolean);

const ANY: Piece = () => true;
/** Brackets only if their meaning is certain: no `]`, `[`, `!` or `^` among the characters. */
const PIECES = /\*+|\?|\[[!^]?(?:\[:\w+:\]|[\w .,:;@~+-])+\]|[^]/g;

/** Matches one segment of a path like a shell: `*` does not match dot files. Uncertain means yes. */
export function segmentMatcher(segment: string): (name: string) => boolean {
  const texts = segment.match(PIECES) ?? [];
  const pieces = texts.map(pieceOf);
  if (!pieces.every((piece) => piece !== undefined)) return () => true;
  const sparesDots = /^[*?]/.test(segment);
  return (name) => !(sparesDots && name.startsWith('.')) && fits(pieces, name);
}

function pieceOf(text: string): Piece | undefined {
  if (text.startsWith('*')) return 'run';
  if (text === '?') return ANY;
  if (text === '[' || text === ']') return undefined;
  if (text.length === 1) return (character) => character === text;
  // What a set excludes, and named classes, depend on the locale.
  if (/^\[[!^]|\[:/.test(text)) return ANY;
  try {
    // So does the case of a range.
    const set = new RegExp(text, 'i');
    return (character) => set.test(character);
  } catch {
    return undefined;
  }
}

/** Backtracks to the last star only, so that no pattern takes long. */
function fits(pieces: readonly Piece[], name: string): boolean {
  let [at, next] = [0, 0];
  let run: { readonly next: number; at: number } | undefined;
  while (at < name.length) {
    const piece = pieces[next];
    if (piece === 'run') run = { next: ++next, at };
    else if (piece?.(name[at] as string)) [at, next] = [at + 1, next + 1];
    else if (run) [at, next] = [++run.at, run.next];
    else return false;
  }
  return pieces.slice(next).every((piece) => piece === 'run');
}

/** The alternatives of a pattern with unnested braces; undefined if there are more than `limit`. */
export function braceAlternatives(pattern: string, limit: number): string[] | undefined {
  let open = [pattern];
  for (;;) {
    const [first = ''] = open;
    if (!BRACES.test(first)) return open;
    open = open.flatMap(expandFirst);
    if (open.length > limit) return undefined;
  }
}

const BRACES = /^([^{]*)\{([^{}]*)\}(.*)$/s;

/** Alternatives differ only in what precedes, so that the same braces are left in all of them. */
function expandFirst(pattern: string): string[] {
  const [, before = '', inside = '', after = ''] = BRACES.exec(pattern) ?? [];
  const isRange = /^-?\w+\.\.-?\w+(\.\.-?\d+)?$/.test(inside);
  const choices = isRange ? ['*'] : inside.split(',');
  return choices.map((choice) => `${before}${choice}${after}`);
}

const WILDCARD = /[*?[]/;

/**
 * The paths that a shell pattern without braces means in a directory, by what is there. A missing file counts if
 * its name is plain. Undefined if there are too many to look at.
 */
export function expandPattern(pattern: string, directory: string, limit = 2000): string[] | undefined {
  let found = [isAbsolute(pattern) ? '/' : directory];
  for (const segment of pattern.split('/').filter(Boolean)) {
    const fits = WILDCARD.test(segment) ? segmentMatcher(segment) : undefined;
    const inside: string[] = [];
    for (const base of found) {
      const names = fits ? entriesIn(base).map(({ name }) => name) : [segment];
      for (const name of names) if (!fits || fits(name)) inside.push(pathNamed(base, name));
      if (inside.length > limit) return undefined;
    }
    found = inside;
  }
  return found;
}

/** Matches names such as those of tools: `*` is any run of characters. */
export function nameMatcher(pattern: string, { ignoreCase = true } = {}): (name: string) => boolean {
  const source = pattern.replaceAll(/[.+^${}()|[\]\\?]/g, String.raw`\$&`).replaceAll('*', '.*');
  const expression = new RegExp(`^${source}$`, ignoreCase ? 'is' : 's');
  return (name) => expression.test(name);
}
