import type { Dialect } from './model.js';

/** Longer lines are not read: parsing some of them takes far too long. */
export const MAX_LENGTH = 16_000;

/** Parsers take very long for nested braces. */
const MAX_BRACES = 40;

// Control characters, unusual blanks, and characters that are invisible or reverse the order of text. The joiner and
// the variation selector of emoji are fine.
const INVISIBLE = new RegExp(
  [
    String.raw`[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180e]`,
    String.raw`[\u2000-\u200c\u200e\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ufe00-\ufe0e\ufeff\uffa0]`,
    String.raw`[\u{e0000}-\u{e0fff}]`,
  ].join('|'),
  'u',
);

/**
 * Reasons not to trust any parser with a line: what shells and parsers are known to read differently, and what
 * people read differently from shells.
 */
export function suspicion(source: string, dialect: Dialect = 'bash'): string | undefined {
  const [reason] = SUSPICIONS.find(([, isSo]) => isSo(source, dialect)) ?? [];
  return reason;
}

/** The cheap ones first. The first one limits the length for all others. */
const SUSPICIONS: readonly (readonly [string, (source: string, dialect: Dialect) => boolean])[] = [
  [`it has more than ${MAX_LENGTH} characters`, (source) => source.length > MAX_LENGTH],
  ['its braces are nested too deeply', (source) => bracesOpen(source) > MAX_BRACES],
  ['it is not valid text', (source) => !source.isWellFormed()],
  ['it contains a carriage return', (source) => source.includes('\r')],
  ['it contains invisible or control characters', (source) => INVISIBLE.test(source)],
  [
    'it has a comment near a line continuation',
    (source) => /\\\n/.test(source) && /(^|[\s;&|(){}])#/.test(source),
  ],
  [
    "it has a $'…' string with unusual escapes",
    (source) => /\$'(?:[^'\\]|\\[^abefnrtv'])*\\[^abefnrtv]/.test(source),
  ],
  ['it has a # right after a substitution', (source) => /[)`]#/.test(source)],
  ['it has backslashes inside backticks', hasEscapesInBackticks],
  ['it has a line continuation inside an expansion', (source) => /\$[\w{([!#@*?-]*\\\n/.test(source)],
  ['sh does not know $[…]; only bash does', (source, dialect) => dialect === 'sh' && source.includes('$[')],
  ['it has a $"…" string', (source) => /\$"/.test(source.replaceAll(/\\./g, '')) && hasLocaleText(source)],
];

/** The most braces that are open at once. */
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
function hasLocaleText(source: string): boolean {
  let inDouble = false;
  let inSingle = false;
  for (let i = 0; i < source.length; i++) {
    const character = source[i];
    if (character === '\\' && !inSingle) i++;
    else if (character === "'" && !inDouble) inSingle = !inSingle;
    else if (character === '"' && !inSingle) {
      if (!inDouble && source[i - 1] === '$') return true;
      inDouble = !inDouble;
    }
  }
  return false;
}
