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

/** In brackets a backslash is a character for some and an escape for others. */
function isClearEscape(next: string | undefined, inBrackets: boolean): boolean {
  if (next === undefined || next === '\n') return false;
  return !inBrackets || !/[[\]]/.test(next);
}

/** The last character of a class such as `[:alpha:]`, or where a bracket stands that begins none. */
function endOfClass(text: string, at: number, delimiter: string): number | undefined {
  const kind = text[at + 1] ?? '';
  if (!/[:.=]/.test(kind)) return at;
  const end = text.indexOf(`${kind}]`, at + 2);
  return end < 0 || text.slice(at, end).includes(delimiter) ? undefined : end + 1;
}

/** A `]` that comes first in a bracket expression is one of its characters. */
function opensBracket(text: string, open: number, at: number): boolean {
  return at === open + 1 || (at === open + 2 && /[\^!]/.test(text[open + 1] ?? ''));
}
