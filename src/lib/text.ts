import { stripVTControlCharacters } from 'node:util';
import { headOf } from './truncate.js';

/** What the library's own pattern misses: parameters with colons, and strings for the terminal. */
const SEQUENCES = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[P\]X^_][^\u0007\u001b]*(?:\u0007|\u001b\\)/g;

/** Text that any JSON reader and any model API takes: well-formed, without NUL and terminal control sequences. */
export function cleanText(text: string): string {
  // NUL first: it may not hide a sequence. After that, a leftover introducer begins nothing.
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  const clean = whole.includes('\0') ? whole.replaceAll('\0', '') : whole;
  if (!/[\u001b\u009b]/.test(clean)) return clean;
  return stripVTControlCharacters(clean.replaceAll(SEQUENCES, '')).replaceAll(/[\u001b\u009b]/g, '');
}

/** One line of at most `width` characters, for people. */
export function oneLine(text: string, width = 200): string {
  const line = cleanText(text)
    .replaceAll(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ')
    .trim();
  return line.length > width ? `${headOf(line, width - 1)}…` : line;
}

/** A text that ends as a sentence, with one full stop. */
export function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

/** For people: `12,345`. */
export function formatNumber(value: number): string {
  return value.toLocaleString('en');
}

/** A text for the middle of a sentence. */
export function withoutPeriod(text: string): string {
  return text.replace(/\.$/, '');
}

/** The words of a text: a short way to write a long list of names. */
export function wordsOf(text: string): string[] {
  return text.trim().split(/\s+/);
}

/** `3 files`, `1 file`. */
export function count(n: number, noun: string, plural = `${noun}s`): string {
  return `${n} ${n === 1 ? noun : plural}`;
}

/** Control characters other than tab and line breaks, and those that reverse the direction of the text. */
const STEERING = /\r(?!\n)|[\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Text that has no effect on a terminal, and is shown there as it is. */
export function steadyText(text: string): string {
  return cleanText(text).replaceAll(STEERING, '');
}

/** Characters that reorder the text, or are invisible. (Joiners are normal in many scripts.) */
const HIDDEN =
  /[\u034f\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

/** Untrusted text: what would be hidden or misleading becomes `[U+202E]`, terminal sequences are removed. */
export function revealHidden(text: string): string {
  return cleanText(text)
    .replaceAll('\r\n', '\n')
    .replaceAll(HIDDEN, (character) => {
      const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
      return `[U+${code}]`;
    });
}

/** One line of untrusted text, as `revealed` shows it. Looks at little of a text, however long it is. */
export function revealedLine(text: string, width: number): string {
  return oneLine(revealHidden(headOf(text, width * 10)), width);
}

/** Keeps a CI runner from treating a line of untrusted text as a command: `::x`, `##[x]`, `##vso[x]`. */
export function neutralizeCommands(text: string): string {
  return text
    .replaceAll(/^((?:[^\S\n\r\u2028\u2029]|\u0085)*):(?=:)/gm, '$1:\u200b')
    .replaceAll(/##(?=\w*\[)/g, '#\u200b#');
}
