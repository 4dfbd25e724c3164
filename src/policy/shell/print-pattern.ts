import type { GlobPart } from 'unbash';
import { refuse } from './unreadable.js';

/** One character or class of characters; a range is three of them. */
const BRACKET = /^\[[!^]?(?:\[:[a-z]+:\]|[\p{L}\p{N}_.,:+@%=^/-])+\]$/u;

export function printGlob({ kind, text }: GlobPart): string {
  switch (kind) {
    case 'star':
      return '*'.repeat(text.length);
    case 'question':
      return '?';
    case 'bracket':
      return BRACKET.test(text) ? text : refuse(`the pattern ${text} is not understood here`);
    default:
      return kind satisfies never;
  }
}

/** Of plain words only: `{a,b}`, `{1..9}`, and such in one another. */
export function printBraces(text: string): string {
  const isPlain = /^\{[\p{L}\p{N}_.,:+@%=^/*?{}-]*\}$/u.test(text);
  // Between `A` and `z` there are signs that the shell would read again.
  const mixes = /[A-Z]\.\.[^A-Z]|[a-z]\.\.[^a-z]|[^\d.,{-]\.\.[\d-]/.test(text);
  return isPlain && !mixes ? text : refuse(`${text} is not understood here`);
}

/**
 * A regular expression behind `=~`: what is quoted in it matches as a text, so that its signs have to stay as they are.
 * A dollar is the end of the text, and nothing else.
 */
export function printRegex(text: string): string {
  const isPlain =
    /^(?:[\p{L}\p{N}_.^*+?|()[\]{}/:,=@%-]|\\[.*+?^${}()|[\]/-]|\$(?=\)|\||$))*$/u.test(text) &&
    isBalanced(text);
  return isPlain ? text : refuse(`the expression ${text} is not understood here`);
}

function isBalanced(text: string): boolean {
  let open = 0;
  for (const sign of text.replaceAll(/\\./g, '')) {
    if (sign === '(') open++;
    else if (sign === ')' && --open < 0) return false;
  }
  return open === 0;
}
