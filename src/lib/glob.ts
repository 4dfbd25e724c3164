import picomatch from 'picomatch';

/** Matches paths with `/` in them against glob patterns. Dot files are files, and `x/**` is `x` as well. */
export function globMatcher(
  patterns: readonly string[],
  { ignoreCase = false } = {},
): (path: string) => boolean {
  if (patterns.length === 0) return () => false;
  return picomatch(
    patterns.map((pattern) => pattern.replace(/^\.\//, '')),
    { dot: true, nocase: ignoreCase, nonegate: true, strictSlashes: false },
  );
}

/** Matches paths against a pattern as a shell expands it: `*` leaves dot files alone, and braces are alternatives. */
export function shellPattern(pattern: string): (path: string) => boolean {
  try {
    return picomatch(pattern, { dot: false, bash: true, nonegate: true });
  } catch {
    return () => true;
  }
}

/** Matches names such as those of tools: `*` is any run of characters. */
export function nameMatcher(pattern: string): (name: string) => boolean {
  const source = pattern.replaceAll(/[.+^${}()|[\]\\?]/g, String.raw`\$&`).replaceAll('*', '.*');
  const expression = new RegExp(`^${source}$`, 'i');
  return (name) => expression.test(name);
}
