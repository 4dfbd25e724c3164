import { braceAlternatives } from '../../../lib/glob.js';
import { either, EMPTY, hasWildcard, textValue, UNKNOWN, type Form, type Value } from './forms.js';

/** Removes a text from the beginning or the end, if it is there. */
export function without(form: Form, removed: string, inFront: boolean): Form {
  if (form.type !== 'text') return { type: 'unknown', end: '' };
  const { text } = form;
  const fits = inFront ? text.startsWith(removed) : text.endsWith(removed);
  // What a wildcard matches may begin or end like that, or not.
  if (!fits) return hasWildcard(text) ? { type: 'unknown', end: '' } : form;
  const [from, to] = inFront ? [removed.length, text.length] : [0, text.length - removed.length];
  return { ...form, text: text.slice(from, to) };
}

/** Each alternative of an expression in braces. */
export function braced(text: string): Value {
  const alternatives = /[$`'"\\]/.test(text) ? undefined : braceAlternatives(text, MAX_ALTERNATIVES);
  if (!alternatives || alternatives.some((one) => /[{}]/.test(one))) return UNKNOWN;
  return either(...alternatives.map(textValue));
}

const MAX_ALTERNATIVES = 64;

/** A shell drops the NULs between names. */
export function asText(value: Value): Value {
  if (value.length === 0) return EMPTY;
  return value.some((form) => form.type === 'listed' && form.nul) ? UNKNOWN : value;
}

/** The value without quotes and backslashes. A text that contains some may become anything. */
export function unquoted(value: Value): Value {
  return value.some((form) => form.type === 'text' && /['"\\]/.test(form.text)) ? UNKNOWN : value;
}
