import { wordsOf } from '../../lib/text.js';
import { ELSEWHERE, INCLUDES, LIKE, phrases, SAME, SPARE, type Pattern, type Table } from './alias-table.js';

/** Another way to write a pattern: its beginning, and what may replace it. */
interface Step {
  readonly from: Pattern;
  readonly to: readonly Pattern[];
}

function groups(table: Table, isMutual: boolean): Step[] {
  return Object.entries(table).flatMap(([program, lines]) =>
    lines.flatMap((line) => {
      const members = phrases(line).map((words) => [program, ...words]);
      const sources = isMutual ? members : members.slice(0, 1);
      return sources.map((from) => ({ from, to: members.filter((one) => one !== from) }));
    }),
  );
}

/** Steps by their first program. Made when the first pattern is looked up, not at every start. */
function byProgram(make: () => readonly Step[]): (program: string | undefined) => readonly Step[] {
  let found: Map<string | undefined, Step[]> | undefined;
  return (program) => {
    if (!found) {
      found = new Map();
      for (const step of make()) found.set(step.from[0], [...(found.get(step.from[0]) ?? []), step]);
    }
    return found.get(program) ?? [];
  };
}

type Steps = ReturnType<typeof byProgram>;

const SYNONYMS = byProgram(() => groups(SAME, true));
const OTHER_NAMES = byProgram(() => [
  ...groups(SAME, true),
  ...groups(LIKE, true),
  ...SPARE.map(wordsOf).map((words) => ({ from: [...words, '*'], to: [words.slice(0, 1)] })),
]);
const INCLUDING = byProgram(() => [
  ...groups(INCLUDES, false),
  ...ELSEWHERE.map(([from, ...to]) => ({ from: wordsOf(from), to: to.map(wordsOf) })),
]);

/** What a pattern becomes in one step. */
function stepsFrom(pattern: Pattern, steps: Steps): Pattern[] {
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
function closure(patterns: readonly Pattern[], steps: Steps): readonly Pattern[] {
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
export const synonymsOf = memoised((pattern) => closure([pattern], SYNONYMS));

/** Patterns that a deny or an ask covers as well. */
export const allThatIncludes = memoised((pattern) => {
  const named = closure([pattern], OTHER_NAMES);
  return closure([...named, ...named.flatMap((one) => stepsFrom(one, INCLUDING))], OTHER_NAMES);
});
