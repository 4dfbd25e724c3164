/**
 * The index of the delimiter that closes a piece of a sed or awk program. Undefined if implementations may disagree:
 * the piece does not end on its line, or some would read the delimiter as part of a bracket expression.
 */
export function endOfDelimited(
  text: string,
  start: number,
  delimiter: string,
  isRegex: boolean,
): number | undefined {
  let bracket: number | undefined;
  for (let i = start; i < text.length; i++) {
    const character = text[i];
    if (character === '\n') return undefined;
    if (character === delimiter) return bracket === undefined ? i : undefined;
    if (character === '\\') {
      if (!isClearEscape(text[i + 1], bracket !== undefined)) return undefined;
      i++;
    } else if (bracket === undefined) {
      if (isRegex && character === '[') bracket = i;
    } else if (character === ']') {
      if (!opensBracket(text, bracket, i)) bracket = undefined;
    } else if (character === '[') {
      const end = endOfClass(text, i, delimiter);
      if (end === undefined) return undefined;
      i = end;
    }
  }
  return undefined;
}

/** Inside brackets, some implementations read a backslash as a character, others as an escape. */
function isClearEscape(next: string | undefined, inBrackets: boolean): boolean {
  if (next === undefined || next === '\n') return false;
  return !inBrackets || !/[[\]]/.test(next);
}

/**
 * The index of the last character of a class such as `[:alpha:]`; for a bracket that opens no class, its own index.
 * Undefined if the class does not end, or contains the delimiter.
 */
function endOfClass(text: string, at: number, delimiter: string): number | undefined {
  const kind = text[at + 1] ?? '';
  if (!/[:.=]/.test(kind)) return at;
  const end = text.indexOf(`${kind}]`, at + 2);
  return end < 0 || text.slice(at, end).includes(delimiter) ? undefined : end + 1;
}

/** A `]` that comes first in a bracket expression is a literal character. */
function opensBracket(text: string, open: number, at: number): boolean {
  return at === open + 1 || (at === open + 2 && /[\^!]/.test(text[open + 1] ?? ''));
}
