import { basename } from 'node:path';
import { nearest } from '../../lib/nearest.js';
import { oneLine } from '../../lib/text.js';
import type { Pattern } from './alias-table.js';
import { synonymsOf } from './aliases.js';
import type { ShellContext, ShellRule } from './context.js';
import { wordsMatched } from './match.js';
import { literalWord, type ShellWord } from './model.js';
import { addsWords } from './wrappers.js';

interface Miss {
  readonly rule: ShellRule;
  readonly pattern: Pattern;
  /** How many words of the pattern match; a misspelled word counts a little. */
  readonly score: number;
  readonly why: string;
}

/** The rule that nearly allowed a command, and the word where they differ. Helps the author of either. */
export function nearMiss(
  words: readonly ShellWord[],
  { rules, otherwise }: Pick<ShellContext, 'rules' | 'otherwise'>,
): string | undefined {
  if (otherwise.decision === 'allow') return undefined;
  const misses = rules
    .filter(({ decision }) => decision === 'allow')
    .flatMap((rule) => (rule.patterns ?? []).flatMap((pattern) => missOf(rule, pattern, words) ?? []));
  const miss = nearestOf(misses);
  return (
    miss &&
    `rule ${miss.rule.reference.id} nearly matches (${inBackticks(miss.pattern.join(' '))}), but ${miss.why}`
  );
}

/** The nearest spelling of a pattern. */
function missOf(rule: ShellRule, pattern: Pattern, words: readonly ShellWord[]): Miss | undefined {
  const program = words[0]?.literal ?? '';
  const isPath = program !== pattern[0] && basename(program) === pattern[0];
  const named = isPath ? [literalWord(basename(program)), ...words.slice(1)] : words;
  const misses = synonymsOf(pattern).flatMap((spelling): Miss[] => {
    const { fits, length } = wordsMatched(spelling, named);
    if (fits === spelling.length && rule.exact && !isPath)
      return [{ rule, pattern, score: fits, why: `it is exact, and ${beyond(named, length)}` }];
    if (fits === spelling.length)
      return isPath ? [{ rule, pattern, score: fits, why: `it is spelled ${inBackticks(program)}` }] : [];
    const closeness = fits === 0 ? 0 : closenessOf(spelling, named, fits, length);
    if (closeness === 0) return [];
    const [meant, word] = [inBackticks(spelling[fits]), named[length]];
    const why = word ? `${inBackticks(word.text)} is where the rule has ${meant}` : `${meant} is missing`;
    return [{ rule, pattern, score: fits + closeness, why }];
  });
  return nearestOf(misses);
}

function nearestOf(misses: readonly Miss[]): Miss | undefined {
  return misses.toSorted((a, b) => b.score - a.score)[0];
}

/** What keeps a command that a pattern matches from being exactly that. */
function beyond(words: readonly ShellWord[], length: number): string {
  const [word, adder] = [words[length], words.find(addsWords)];
  if (adder) return `${inBackticks(adder.text)} adds words when it runs`;
  return word ? `${inBackticks(word.text)} is an extra word` : 'this is another spelling';
}

const inBackticks = (word = '') => `\`${oneLine(word, 80)}\``;

/** Nothing if only the program is the same: `git push` is not a near miss of `git log`. */
function closenessOf(spelling: Pattern, words: readonly ShellWord[], fits: number, length: number): number {
  const word = words[length]?.literal;
  const rest = words.slice(length).map(({ literal }) => literal);
  const isBehind = spelling.slice(fits).every((meant) => rest.includes(meant));
  if (isBehind) return 0.9;
  if (word !== undefined && nearest(word, [spelling[fits] as string]) !== undefined) return 0.5;
  return fits > 1 || words.length === length ? 0.1 : 0;
}
