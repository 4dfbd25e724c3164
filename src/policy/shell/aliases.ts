import { wordsOf } from '../../lib/text.js';
import {
  ACROSS_PROGRAMS,
  INCLUDES,
  LOOSE_SYNONYMS,
  phrases,
  SYNONYMS,
  OPTIONAL_WORDS,
  type Pattern,
  type AliasTable,
} from './alias-table.js';

/** Another way to write a pattern: its beginning, and what may replace it. */
interface Rewrite {
  readonly from: Pattern;
  readonly to: readonly Pattern[];
}

function rewritesIn(table: AliasTable, isMutual: boolean): Rewrite[] {
  return Object.entries(table).flatMap(([program, lines]) =>
    lines.flatMap((line) => {
      const members = phrases(line).map((words) => [program, ...words]);
      const sources = isMutual ? members : members.slice(0, 1);
      return sources.map((from) => ({ from, to: members.filter((one) => one !== from) }));
    }),
  );
}

/** Rewrites by their first program. Built when the first pattern is looked up, not at every start. */
function byProgram(make: () => readonly Rewrite[]): (program: string | undefined) => readonly Rewrite[] {
  let found: Map<string | undefined, Rewrite[]> | undefined;
  return (program) => {
    if (!found) {
      found = new Map();
      for (const step of make()) found.set(step.from[0], [...(found.get(step.from[0]) ?? []), step]);
    }
    return found.get(program) ?? [];
  };
}

type Rewrites = ReturnType<typeof byProgram>;

const SYNONYM_STEPS = byProgram(() => rewritesIn(SYNONYMS, true));
const OTHER_NAME_STEPS = byProgram(() => [
  ...rewritesIn(SYNONYMS, true),
  ...rewritesIn(LOOSE_SYNONYMS, true),
  ...OPTIONAL_WORDS.map(wordsOf).map((words) => ({ from: [...words, '*'], to: [words.slice(0, 1)] })),
]);
const INCLUDING_STEPS = byProgram(() => [
  ...rewritesIn(INCLUDES, false),
  ...ACROSS_PROGRAMS.map(([from, ...to]) => ({ from: wordsOf(from), to: to.map(wordsOf) })),
]);

/** What a pattern becomes in one step. */
function stepsFrom(pattern: Pattern, steps: Rewrites): Pattern[] {
  return steps(pattern[0]).flatMap(({ from, to }) => {
    const mark = from.at(-1);
    const length = mark === '$' || mark === '*' ? from.length - 1 : from.length;
    if (!from.every((word, i) => i === length || word === pattern[i])) return [];
    const rest = pattern.slice(length);
    const goesOn = mark === '$' ? rest.length === 0 : mark !== '*' || rest.length > 0;
    return goesOn ? to.map((words) => continued(words, rest)) : [];
  });
}

/** The words of a phrase, followed by the rest of a rule. */
function continued(phrase: Pattern, rest: Pattern): Pattern {
  if (phrase.at(-1) === '$') return phrase;
  return phrase.at(-1) === '*' && rest.length > 0 ? [...phrase.slice(0, -1), ...rest] : [...phrase, ...rest];
}

/** All ways to write patterns, starting with themselves. */
function closure(patterns: readonly Pattern[], steps: Rewrites): readonly Pattern[] {
  const found = new Map(patterns.map((pattern) => [pattern.join(' '), pattern]));
  for (const known of found.values()) {
    for (const other of stepsFrom(known, steps)) {
      const key = other.join(' ');
      if (!found.has(key)) found.set(key, other);
    }
  }
  return [...found.values()];
}

/** Computed once for each pattern, because every command is checked against all rules. */
function memoised(compute: (pattern: Pattern) => readonly Pattern[]) {
  const known = new WeakMap<Pattern, readonly Pattern[]>();
  return (pattern: Pattern): readonly Pattern[] => {
    let found = known.get(pattern);
    if (!found) known.set(pattern, (found = compute(pattern)));
    return found;
  };
}

/** Patterns that an allow covers as well. */
export const synonymsOf = memoised((pattern) => closure([pattern], SYNONYM_STEPS));

/** Patterns that a deny or an ask covers as well. */
export const allThatIncludes = memoised((pattern) => {
  const named = closure([pattern], OTHER_NAME_STEPS);
  return closure([...named, ...named.flatMap((one) => stepsFrom(one, INCLUDING_STEPS))], OTHER_NAME_STEPS);
});
