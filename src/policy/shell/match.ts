import { basename } from 'node:path';
import type { ShellWord } from './model.js';

/** The words of a command pattern. */
export type Pattern = readonly string[];

/** For an allow: word for word from the start, and each word known. */
export function coversExactly(pattern: Pattern, words: readonly ShellWord[]): boolean {
  return pattern.every((word, i) => words[i]?.literal === word);
}

/**
 * For a deny or an ask: through paths and past options in between, and a word that is not known yet counts as the
 * one that was meant.
 */
export function mightMatch(pattern: Pattern, words: readonly ShellWord[]): boolean {
  const [name, ...rest] = pattern;
  const program = words[0];
  if (name === undefined || program?.literal === undefined) return false;
  const same = [program.literal, basename(program.literal)].some(
    (text) => text === name || text === basename(name),
  );
  return same && matchRest(rest, words.slice(1), basename(name) === 'npm');
}

/** `shortens`: the program takes the beginning of a subcommand for the whole of it. */
function matchRest(pattern: readonly string[], words: readonly ShellWord[], shortens: boolean): boolean {
  if (pattern.length === 0) return true;
  const [word, ...others] = words;
  if (!word) return false;
  if (word.literal === undefined) return true;
  const short = shortens && word.literal.length >= 3 && pattern[0]?.startsWith(word.literal);
  if (word.literal === pattern[0] || short) return matchRest(pattern.slice(1), others, shortens);
  // Options of the program itself, with or without a value, may stand before what the pattern names.
  if (!/^[-+]/.test(word.literal)) return false;
  return matchRest(pattern, others, shortens) || matchRest(pattern, others.slice(1), shortens);
}
