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
  const source = pattern.replaceAll(/\*+|\?|\[[^\]]*\]|\{[^{}]*\}|[^*?[{]/g, (piece, at: number) => {
    const first = at === 0 || pattern[at - 1] === '/';
    switch (piece[0]) {
      case '*':
        return `${first ? String.raw`(?!\.)` : ''}[^/]*`;
      case '?':
        return first ? '[^/.]' : '[^/]';
      case '[':
        return piece.replace(/^\[!/, '[^');
      case '{':
        return piece.includes('..')
          ? '[^/]*'
          : `(?:${piece.slice(1, -1).split(',').map(escapeText).join('|')})`;
      default:
        return escapeText(piece);
    }
  });
  try {
    const expression = new RegExp(`^${source}$`);
    return (path) => expression.test(path);
  } catch {
    return () => true;
  }
}

/** The alternatives of a pattern with braces, each up to its first wildcard. Nested braces are not looked into. */
export function fixedParts(pattern: string): string[] {
  const [, before, inside, after] = /^([^{]*)\{([^{}]*)\}(.*)$/s.exec(pattern) ?? [];
  if (inside === undefined) return [pattern.replace(/[*?[{].*$/s, '')];
  return inside.split(',').flatMap((choice) => fixedParts(`${before}${choice}${after}`));
}

function escapeText(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

/** Matches names such as those of tools: `*` is any run of characters. */
export function nameMatcher(pattern: string): (name: string) => boolean {
  const source = pattern.replaceAll(/[.+^${}()|[\]\\?]/g, String.raw`\$&`).replaceAll('*', '.*');
  const expression = new RegExp(`^${source}$`, 'i');
  return (name) => expression.test(name);
}
