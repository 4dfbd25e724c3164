import type { Dialect } from './model.js';

/** Longer lines are not read: some grow out of all proportion while they are parsed. */
export const MAX_LENGTH = 16_000;

/** Parsers take very long over braces within braces. */
const MAX_BRACES = 40;

// Controls, odd blanks, and characters that cannot be seen or that turn the order of the text around. The joiner
// and the variation selector of emoji are fine.
const INVISIBLE = new RegExp(
  [
    String.raw`[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180e]`,
    String.raw`[\u2000-\u200c\u200e\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ufe00-\ufe0e\ufeff\uffa0]`,
    String.raw`[\u{e0000}-\u{e0fff}]`,
  ].join('|'),
  'u',
);

/**
 * Reasons not to believe any parser about a line: what shells and parsers are known to read differently, and what
 * people read differently from shells.
 */
export function suspicion(source: string, dialect: Dialect = 'bash'): string | undefined {
  if (source.length > MAX_LENGTH) return `it has more than ${MAX_LENGTH} characters`;
  if (bracesOpen(source) > MAX_BRACES) return 'its braces are nested too deeply';
  if (!source.isWellFormed()) return 'it is not valid text';
  if (source.includes('\r')) return 'it contains a carriage return';
  if (INVISIBLE.test(source)) return 'it contains invisible or control characters';
  if (/\\\n/.test(source) && /(^|[\s;&|(){}])#/.test(source))
    return 'it has a comment near a line continuation';
  if (/\$'(?:[^'\\]|\\[^abefnrtv'])*\\[^abefnrtv]/.test(source))
    return "it has a $'…' string with unusual escapes";
  if (/[)`]#/.test(source)) return 'it has a # right behind a substitution';
  if (hasEscapesInBackticks(source)) return 'it has backslashes inside backticks';
  if (/\$[\w{([!#@*?-]*\\\n/.test(source)) return 'it has a line continuation inside an expansion';
  if (dialect === 'sh' && source.includes('$[')) return 'sh does not know $[…]; only bash does';
  if (/\$"/.test(source.replaceAll(/\\./g, ''))) return unquotedLocale(source);
  return undefined;
}

/** The most braces that are open at a time. */
function bracesOpen(source: string): number {
  let [open, most] = [0, 0];
  for (const character of source) {
    if (character === '{') most = Math.max(most, ++open);
    else if (character === '}') open = Math.max(0, open - 1);
  }
  return most;
}

/** Between backticks that are not escaped themselves. */
function hasEscapesInBackticks(source: string): boolean {
  const plain = source.replaceAll(/\\[^]/g, '\u0001\u0001');
  const [first, last] = [plain.indexOf('`'), plain.lastIndexOf('`')];
  return first >= 0 && source.slice(first, last).includes('\\');
}

/** `$"…"` is translated at run time; `"costs 5$"` only looks like it. */
function unquotedLocale(source: string): string | undefined {
  let inDouble = false;
  let inSingle = false;
  for (let i = 0; i < source.length; i++) {
    const character = source[i];
    if (character === '\\' && !inSingle) i++;
    else if (character === "'" && !inDouble) inSingle = !inSingle;
    else if (character === '"' && !inSingle) {
      if (!inDouble && source[i - 1] === '$') return 'it has a $"…" string';
      inDouble = !inDouble;
    }
  }
  return undefined;
}
