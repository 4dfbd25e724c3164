import { errorMessage } from '../../lib/errors.js';
import { readExpression } from './expression.js';
import { requiredLiterals } from './literals.js';
import { ripgrepPattern } from './ripgrep-pattern.js';
import { own } from '../../lib/own.js';

export interface SearchPattern {
  readonly expression: RegExp;
  readonly ignoreCase: boolean;
  /** Every match contains one of these. */
  readonly literals: readonly string[] | undefined;
  /** For ripgrep: an expression that matches at least where this one does. */
  readonly weakened: string | undefined;
}

const MAX_LENGTH = 5000;

const POSIX_CLASSES: Readonly<Record<string, string>> = {
  alnum: 'a-zA-Z0-9',
  alpha: 'a-zA-Z',
  blank: String.raw` \t`,
  digit: '0-9',
  lower: 'a-z',
  punct: String.raw`!-\/:-@\[-\`{-~`,
  space: String.raw`\s`,
  upper: 'A-Z',
  word: String.raw`\w`,
  xdigit: '0-9a-fA-F',
};

/**
 * The meaning of a pattern: JavaScript's regular expressions, plus what models know from other programs. A
 * string says what is wrong with it.
 */
export function compilePattern(pattern: string, caseSensitive: boolean): SearchPattern | string {
  if (pattern.length > MAX_LENGTH) return `\`pattern\` has more than ${MAX_LENGTH} characters`;
  const [prefix = '', flags = ''] = /^\(\?([ims]+)\)/.exec(pattern) ?? [];
  const source = pattern
    .slice(prefix.length)
    .replaceAll(/\[:(\w+):\](?=[^[]*\])/g, (whole, name: string) => own(POSIX_CLASSES, name) ?? whole);
  const ignoreCase = !caseSensitive || flags.includes('i');
  const unicode = /\\p\{|\\u\{|[\u{10000}-\u{10ffff}]/u.test(source);
  let expression: RegExp;
  try {
    expression = new RegExp(source, `${ignoreCase ? 'i' : ''}${unicode ? 'u' : ''}`);
  } catch (error) {
    const why = errorMessage(error).replace(/^Invalid regular expression: .*: /s, '');
    const escaped = pattern.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
    return `\`pattern\` is not a regular expression (${why}). To find the text itself, write ${JSON.stringify(escaped)}`;
  }
  // Case folding beyond ASCII would find a long s for an s, and no other program does.
  const branches = unicode && ignoreCase ? undefined : readExpression(source);
  return {
    expression,
    ignoreCase,
    literals: branches && requiredLiterals(branches),
    weakened: branches && ripgrepPattern(branches),
  };
}
