/**
 * Matches a text against a pattern like `find -name`, `grep --include` and git: leading dots are ordinary characters,
 * and `*` matches slashes. Undefined if it is uncertain what the pattern means.
 */
export function fnmatch(
  pattern: string,
  { ignoreCase = false } = {},
): ((text: string) => boolean) | undefined {
  // Ranges depend on the locale.
  if (pattern.includes('[') || pattern.length > 200) return undefined;
  const pieces = pattern.match(/\\[^]|\*+|\?|[^*?\\]+/g) ?? [];
  // Several stars take long on texts made to be slow.
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
