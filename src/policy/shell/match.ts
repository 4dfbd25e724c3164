import { basename } from 'node:path';
import {
  CARRIER_WORDS,
  NPM_COMMANDS,
  programName,
  ABBREVIATING,
  WITH_GOALS,
  type Pattern,
} from './alias-table.js';
import { allThatIncludes, synonymsOf } from './aliases.js';
import { isIdle } from './idle-options.js';
import { literalWord, type ShellWord } from './model.js';
import { own } from '../../lib/own.js';

/**
 * For an allow: word for word from the start, with every word known. Exact synonyms match too, and options that
 * change nothing may come in between. Returns the command as the pattern would write it, so that callers know it by
 * one name only.
 */
export function covered(pattern: Pattern, words: readonly ShellWord[]): readonly ShellWord[] | undefined {
  for (const spelling of synonymsOf(pattern)) {
    const { length, fits } = wordsMatched(spelling, words);
    if (fits < spelling.length) continue;
    const isItself = spelling === pattern && length === pattern.length;
    return isItself ? words : [...pattern.map(literalWord), ...words.slice(length)];
  }
  return undefined;
}

/** For an exact allow: these words and nothing more, all of them known before the command runs. */
export function isJust(pattern: Pattern, words: readonly ShellWord[]): boolean {
  return words.length === pattern.length && words.every(({ literal }, i) => literal === pattern[i]);
}

/** How many words of a pattern a command begins with, and how many of its own words that takes. */
export function wordsMatched(
  pattern: Pattern,
  words: readonly ShellWord[],
): { fits: number; length: number } {
  let at = 0;
  for (const [i, meant] of pattern.entries()) {
    while (words[at]?.literal !== meant && isIdle(pattern.slice(0, i), words, at)) at++;
    if (words[at]?.literal !== meant) return { fits: i, length: at };
    at++;
  }
  return { fits: pattern.length, length: at };
}

/**
 * For a deny or an ask: sees through paths, other names, options in between, aliases, and commands that include the
 * meant one. A word that is not known yet matches any word.
 */
export function mightMatch(pattern: Pattern, words: readonly ShellWord[]): boolean {
  const [program, ...rest] = asGitCommand(words);
  if (program?.literal === undefined) return false;
  const known = programName(basename(program.literal));
  return allThatIncludes(pattern).some((meant) => mightBe(meant, program.literal as string, known, rest));
}

/** `git-push`, as it is called in git's own folder, is `git push`. */
function asGitCommand(words: readonly ShellWord[]): readonly ShellWord[] {
  const [, subcommand] = /^git-(.+)$/.exec(basename(words[0]?.literal ?? '')) ?? [];
  return subcommand === undefined ? words : [literalWord('git'), literalWord(subcommand), ...words.slice(1)];
}

function mightBe(
  [name = '', ...rest]: Pattern,
  program: string,
  known: string,
  words: readonly ShellWord[],
): boolean {
  if (program !== name && programName(basename(name)) !== known) return false;
  return WITH_GOALS.has(known)
    ? rest.every((word) => isAmong(word, words, known))
    : matchRest(rest, words, known);
}

function isAmong(goal: string, words: readonly ShellWord[], program: string): boolean {
  return words.some(
    ({ literal }) => literal === undefined || isWord(literal, goal) || isLikeGoal(literal, goal, program),
  );
}

/** Goals that publish to this machine only, whatever they are called. */
const LOCAL = /ToMavenLocal$/;

/** `:app:pub` and `publishAllPublications…` are `publish` to gradle, `deploy:deploy-file` is `deploy` to mvn. */
function isLikeGoal(text: string, goal: string, program: string): boolean {
  if (/^mvnw?$/.test(program)) return `${text.replace(/^site-/, '')}:`.startsWith(`${goal}:`);
  const name = text.replace(/^.*:/, '');
  const [start = ''] = /^[a-z\d]+/.exec(name) ?? [];
  return /^gradlew?$/.test(program) && start !== '' && goal.startsWith(start) && !LOCAL.test(name);
}

function isWord(word: string, meant: string): boolean {
  return word === meant || word.startsWith(`${meant}=`) || isShorter(word, meant);
}

/** git and most other programs take the beginning of a long option for the whole: `--ame` is `--amend`. */
function isShorter(text: string, meant: string): boolean {
  const [name = ''] = text.split('=');
  return /^--[a-zA-Z]/.test(name) && meant.startsWith(name);
}

/**
 * Whether words may begin with a pattern. Options may come before any of its words, each with or without a value.
 * Every position is visited once, however many options there are.
 */
function matchRest(pattern: Pattern, words: readonly ShellWord[], program: string): boolean {
  const seen = new Set<number>();
  const places: [number, number][] = [[0, 0]];
  for (const [at, from] of places) {
    const key = at * (words.length + 2) + from;
    if (seen.has(key)) continue;
    seen.add(key);
    const meant = pattern[at];
    if (meant === undefined) return true;
    const word = words[from];
    if (!word && meant === '$') return true;
    if (!word) continue;
    if (word.literal === undefined) return true;
    const text = word.literal;
    const isOption = /^[-+]/.test(text);
    const isShort = at === 0 && isShortFor(text, meant, program);
    if (meant === '*' ? !isOption : isShort || isWord(text, meant)) places.push([at + 1, from + 1]);
    if (isOption) places.push([at, from + 1], [at, Math.min(from + 2, words.length)]);
    if (at === 0) for (const length of carriers(words.slice(from), program)) places.push([at, from + length]);
  }
  return false;
}

/** npm also takes `runScript` for `run-script`. */
function isShortFor(text: string, meant: string, program: string): boolean {
  if (text === '' || !ABBREVIATING.has(program)) return false;
  if (program !== 'npm') return meant.startsWith(text);
  const word = text.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return word === meant || (meant.startsWith(word) && !NPM_COMMANDS.has(word));
}

/** How many words `workspace NAME` and the like take. */
function carriers(words: readonly ShellWord[], program: string): number[] {
  return (own(CARRIER_WORDS, program) ?? [])
    .filter((phrase) => phrase.every((one, i) => words[i] && (one === '*' || words[i]?.literal === one)))
    .map(({ length }) => length);
}
