import { stripVTControlCharacters } from 'node:util';
import { headOf } from './truncate.js';

/** What the library's own pattern misses: parameters with colons, and strings for the terminal. */
const SEQUENCES = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[P\]X^_][^\u0007\u001b]*(?:\u0007|\u001b\\)/g;

/** Text that any JSON reader and any model API takes: well-formed, without NUL and terminal control sequences. */
export function cleanText(text: string): string {
  // NUL first: it must not hide a sequence. What is left of an introducer after that begins nothing.
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

/** The words of a text: the shortest way to write a long list of names. */
export function wordsOf(text: string): string[] {
  return text.trim().split(/\s+/);
}

/** `3 files`, `1 file`. */
export function count(n: number, noun: string, plural = `${noun}s`): string {
  return `${n} ${n === 1 ? noun : plural}`;
}

/** Keeps a CI runner from taking a line of somebody else's text for a command to itself: `::x`, `##[x]`, `##vso[x]`. */
export function neutralizeCommands(text: string): string {
  return text.replaceAll(/^(\s*):(?=:)/gm, '$1:\u200b').replaceAll(/##(?=\w*\[)/g, '#\u200b#');
}
