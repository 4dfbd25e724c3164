/**
 * Where a delimited piece of a sed or awk program ends: the index of its closing delimiter. Undefined where programs
 * may disagree: it does not end on its line, or some would take the delimiter for a part of a bracket expression.
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
      const next = text[i + 1];
      if (next === undefined || next === '\n') return undefined;
      // In brackets a backslash is a character for some and an escape for others.
      if (bracket !== undefined && /[[\]]/.test(next)) return undefined;
      i++;
    } else if (isRegex && character === '[' && bracket === undefined) bracket = i;
    else if (character === ']' && bracket !== undefined && !opensBracket(text, bracket, i))
      bracket = undefined;
    else if (character === '[' && bracket !== undefined && /[:.=]/.test(text[i + 1] ?? '')) {
      const end = text.indexOf(`${text[i + 1]}]`, i + 2);
      if (end < 0 || text.slice(i, end).includes(delimiter)) return undefined;
      i = end + 1;
    }
  }
  return undefined;
}

/** A `]` that comes first in a bracket expression is one of its characters. */
function opensBracket(text: string, open: number, at: number): boolean {
  return at === open + 1 || (at === open + 2 && /[\^!]/.test(text[open + 1] ?? ''));
}
