/**
 * Matches a text against a pattern as `find -name`, `grep --include` and git do: leading dots are like other characters,
 * and `*` runs over slashes. Undefined where it is not certain what the pattern means.
 */
export function fnmatch(
  pattern: string,
  { ignoreCase = false } = {},
): ((text: string) => boolean) | undefined {
  // Ranges depend on the locale.
  if (pattern.includes('[') || pattern.length > 200) return undefined;
  const pieces = pattern.match(/\\[^]|\*+|\?|[^*?\\]+/g) ?? [];
  // Several runs take long on texts that are made for it.
  if (pieces.filter((piece) => piece.startsWith('*')).length > 4) return undefined;
  const source = pieces.map((piece) => {
    if (piece.startsWith('*')) return '.*';
    return piece === '?' ? '.' : escape(piece.startsWith('\\') ? piece.slice(1) : piece);
  });
  const expression = new RegExp(`^${source.join('')}$`, ignoreCase ? 'isu' : 'su');
  return (text) => expression.test(text);
}

function escape(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
}
