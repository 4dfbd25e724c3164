import type { GlobPart } from 'unbash';
import { reject } from './unreadable.js';

/** A bracket expression of classes and plain characters; a range is three characters. */
const BRACKET = /^\[[!^]?(?:\[:[a-z]+:\]|[\p{L}\p{N}_.,:+@%=^/-])+\]$/u;

export function printGlob({ kind, text }: GlobPart): string {
  switch (kind) {
    case 'star':
      return '*'.repeat(text.length);
    case 'question':
      return '?';
    case 'bracket':
      return BRACKET.test(text) ? text : reject(`the pattern ${text} is not supported`);
    default:
      return kind satisfies never;
  }
}

/** Prints braces that contain only plain words: `{a,b}`, `{1..9}`, also nested. */
export function printBraces(text: string): string {
  const isPlain = /^\{[\p{L}\p{N}_.,:+@%=^/*?{}-]*\}$/u.test(text);
  // A range from `A` to `z` includes characters that the shell would interpret, such as backticks.
  const mixes = /[A-Z]\.\.[^A-Z]|[a-z]\.\.[^a-z]|[^\d.,{-]\.\.[\d-]/.test(text);
  return isPlain && !mixes ? text : reject(`${text} is not supported`);
}

/**
 * Prints a regular expression after `=~`, as written: quotes would make its characters literal. A dollar may only
 * mark the end of the text.
 */
export function printRegex(text: string): string {
  const isPlain =
    /^(?:[\p{L}\p{N}_.^*+?|()[\]{}/:,=@%-]|\\[.*+?^${}()|[\]/-]|\$(?=\)|\||$))*$/u.test(text) &&
    isBalanced(text);
  return isPlain ? text : reject(`the expression ${text} is not supported`);
}

function isBalanced(text: string): boolean {
  let open = 0;
  for (const sign of text.replaceAll(/\\./g, '')) {
    if (sign === '(') open++;
    else if (sign === ')' && --open < 0) return false;
  }
  return open === 0;
}
