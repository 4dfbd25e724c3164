/** Models that write a text as JSON sometimes escape it once too often. */
const MEANING: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };
const ALL = /\\([nrt"'`\\])/g;
const QUOTES = /\\(["'`])/g;
const BREAKS = /\\([nrt])/g;

export interface Unescaped {
  readonly wanted: string;
  readonly replacement: string;
}

/** What a text and its replacement may mean if either was escaped too often; the likeliest first. */
export function unescapings(wanted: string, replacement: string): Unescaped[] {
  // Escaped as a whole, it contains no bare characters; otherwise only a part may be meant.
  const isWhole = !/["\n]/.test(withoutPairs(wanted + replacement));
  const ways = isWhole ? [ALL, QUOTES, BREAKS] : [QUOTES, BREAKS, ALL];
  const known = new Set([wanted]);
  return ways.flatMap((way) => {
    const meant = unescape(wanted, way);
    if (known.has(meant) || meant.trim() === '') return [];
    known.add(meant);
    return [{ wanted: meant, replacement: unescape(replacement, way) }];
  });
}

/** Why a whole file looks as if it was escaped too often; undefined if it does not. */
export function escapedLook(content: string): string | undefined {
  // Between plain quotes, as in JSON, escapes are normal.
  if (!content.includes('\\') || withoutPairs(content).includes('"')) return undefined;
  const breaks = content.split('\\n').length - 1;
  if (breaks > 1 && !content.includes('\n')) return `no line break, but ${breaks} times a literal \\n`;
  const quotes = content.split('\\"').length - 1;
  return quotes > 1 ? `no double quote without a backslash, but ${quotes} times \\"` : undefined;
}

function unescape(text: string, which: RegExp): string {
  return text.replaceAll(which, (_pair, character: string) => MEANING[character] ?? character);
}

function withoutPairs(text: string): string {
  return text.replaceAll(/\\[^]/g, '');
}
