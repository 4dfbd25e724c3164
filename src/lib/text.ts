import { stripVTControlCharacters } from 'node:util';

/** Text that any JSON reader and any model API takes: well-formed, without NUL and terminal control sequences. */
export function cleanText(text: string): string {
  let clean = text.isWellFormed() ? text : text.toWellFormed();
  if (/[\u001b\u009b]/.test(clean)) clean = stripVTControlCharacters(clean);
  return clean.includes('\0') ? clean.replaceAll('\0', '') : clean;
}

/** One line of at most `width` characters, for people. */
export function oneLine(text: string, width = 200): string {
  const line = cleanText(text).replaceAll(/\s+/g, ' ').trim();
  return line.length > width ? `${line.slice(0, width - 1)}…` : line;
}

/** `3 files`, `1 file`. */
export function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}

/** Keeps a CI runner from taking a line of somebody else's text for a command to itself. */
export function neutralizeCommands(text: string): string {
  return text.replaceAll(/^(\s*):(?=:)/gm, '$1:\u200b').replaceAll('##[', '#\u200b#[');
}
