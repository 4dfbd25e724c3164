import { braceAlternatives } from '../../../lib/glob.js';
import {
  unionOf,
  EMPTY,
  hasShellWildcard,
  exactText,
  UNKNOWN,
  type PossibleText,
  type PossibleTexts,
} from './possible-texts.js';

/** Removes a text from the beginning or the end, if it is there. */
export function withoutAffix(possible: PossibleText, removed: string, inFront: boolean): PossibleText {
  if (possible.type !== 'text') return { type: 'unknown', end: '' };
  const { text } = possible;
  const fits = inFront ? text.startsWith(removed) : text.endsWith(removed);
  // What a wildcard matches may begin or end like that, or not.
  if (!fits) return hasShellWildcard(text) ? { type: 'unknown', end: '' } : possible;
  const [from, to] = inFront ? [removed.length, text.length] : [0, text.length - removed.length];
  return { ...possible, text: text.slice(from, to) };
}

/** Each alternative of an expression in braces. */
export function braceTexts(text: string): PossibleTexts {
  const alternatives = /[$`'"\\]/.test(text) ? undefined : braceAlternatives(text, MAX_ALTERNATIVES);
  if (!alternatives || alternatives.some((one) => /[{}]/.test(one))) return UNKNOWN;
  return unionOf(...alternatives.map(exactText));
}

const MAX_ALTERNATIVES = 64;

/** A shell drops the NULs between names. */
export function asText(value: PossibleTexts): PossibleTexts {
  if (value.length === 0) return EMPTY;
  return value.some((possible) => possible.type === 'listed' && possible.nul) ? UNKNOWN : value;
}

/** The value without quotes and backslashes. A text that contains some may become anything. */
export function unquoted(value: PossibleTexts): PossibleTexts {
  return value.some((possible) => possible.type === 'text' && /['"\\]/.test(possible.text)) ? UNKNOWN : value;
}
