import { readdirSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import picomatch from 'picomatch';

/** Matches paths with `/` in them against glob patterns. Dot files are files, and `x/**` is `x` as well. */
export function globMatcher(
  patterns: readonly string[],
  { ignoreCase = false } = {},
): (path: string) => boolean {
  if (patterns.length === 0) return () => false;
  return picomatch(
    patterns.map((pattern) => pattern.replace(/^\.\//, '')),
    // A name may have line breaks in it, which a dot must not stop at.
    { dot: true, nonegate: true, strictSlashes: false, flags: ignoreCase ? 'is' : 's' },
  );
}

/** Matches one segment of a path as a shell does: `*` leaves dot files alone. Unsure means yes. */
export function segmentMatcher(segment: string): (name: string) => boolean {
  if (/\[[=.]/.test(segment)) return () => true;
  const source = segment.replaceAll(
    /\*+|\?|\[[!^]?\]?(?:\[:\w+:\]|[^\]])*\]|[^*?[]|\[/g,
    (piece, at: number) => {
      if (piece[0] === '*') return at === 0 ? String.raw`(?!\.).*` : '.*';
      if (piece === '?') return at === 0 ? '[^.]' : '.';
      if (piece.length > 1)
        return /\[[:=.]/.test(piece) ? '.' : piece.replace(/^\[!/, '[^').replaceAll('\\', '\\\\');
      return piece.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
    },
  );
  try {
    const expression = new RegExp(`^(?:${source})$`, 's');
    return (name) => expression.test(name);
  } catch {
    return () => true;
  }
}

/** The alternatives of a pattern with braces that are not nested. */
export function braceAlternatives(pattern: string): string[] {
  const [, before = '', inside, after = ''] = /^([^{]*)\{([^{}]*)\}(.*)$/s.exec(pattern) ?? [];
  if (inside === undefined) return [pattern];
  const isRange = /^-?\w+\.\.-?\w+(\.\.-?\d+)?$/.test(inside);
  const choices = isRange ? ['*'] : inside.split(',');
  return choices.flatMap((choice) => braceAlternatives(`${before}${choice}${after}`));
}

const WILDCARD = /[*?[]/;

/**
 * The paths that a shell pattern without braces means in a directory, by what is there. What is not there counts as
 * far as its name is plain. Undefined if there are too many to look at.
 */
export function expandPattern(pattern: string, directory: string, limit = 2000): string[] | undefined {
  let found = [isAbsolute(pattern) ? '/' : directory];
  for (const segment of pattern.split('/').filter(Boolean)) {
    const fits = WILDCARD.test(segment) ? segmentMatcher(segment) : undefined;
    found = found.flatMap((base) =>
      (fits ? namesIn(base).filter(fits) : [segment]).map((name) => resolve(base, name)),
    );
    if (found.length > limit) return undefined;
  }
  return found;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Matches names such as those of tools: `*` is any run of characters. */
export function nameMatcher(pattern: string, { ignoreCase = true } = {}): (name: string) => boolean {
  const source = pattern.replaceAll(/[.+^${}()|[\]\\?]/g, String.raw`\$&`).replaceAll('*', '.*');
  const expression = new RegExp(`^${source}$`, ignoreCase ? 'is' : 's');
  return (name) => expression.test(name);
}
