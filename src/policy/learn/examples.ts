import { missingIn } from '../examples.js';
import { ruleOf, type Draft } from '../remedy.js';
import type { LearntRule } from './rules.js';
import { own } from '../../lib/own.js';

export interface RuleExamples {
  readonly match: readonly string[];
  readonly notMatch: readonly string[];
}

const SHOWN = 4;
const MAX_LENGTH = 120;

/** What was seen of a rule, and near misses: each tried against it, as a policy does when it is loaded. */
export async function examplesFor(rule: LearntRule): Promise<RuleExamples> {
  if (rule.type === 'tool') return { match: [], notMatch: [] };
  const missing = await missingIn(ruleOf(ruleDraft(rule)));
  const fits = (example: string) => isShort(example) && missing(example) === undefined;
  // The shortest tell most; each pattern should have one.
  const match = rule.entries.flatMap(({ text, examples }) => {
    const own = examples.filter(fits).toSorted((a, b) => a.length - b.length || a.localeCompare(b));
    return own.length > 0 ? own.slice(0, 1) : [text].filter(fits);
  });
  const notMatch = rule.entries
    .slice(0, 2)
    .flatMap(({ text }) => (rule.type === 'command' ? nearCommands(text, rule.exact) : nearPaths(text)))
    .filter((example) => !fits(example));
  return { match: [...new Set(match)].slice(0, SHOWN), notMatch: [...new Set(notMatch)].slice(0, SHOWN) };
}

/** The draft that stands for a rule. */
export function ruleDraft(rule: LearntRule): Draft {
  const texts = rule.entries.map(({ text }) => text);
  switch (rule.type) {
    case 'command':
      return {
        tools: ['run_shell_command'],
        commands: texts.map((text) => text.split(' ')),
        exact: rule.exact,
        paths: undefined,
      };
    case 'path':
      return { tools: rule.tools, commands: undefined, paths: texts };
    case 'tool':
      return { tools: texts, commands: undefined, paths: undefined };
    default:
      return rule satisfies never;
  }
}

function isShort(example: string): boolean {
  return example.length <= MAX_LENGTH && !/[\n\r]/.test(example);
}

/** Options that would make some programs do more than was seen. */
const OPTIONS: Readonly<Record<string, string>> = {
  git: '--output=x',
  sort: '-o x',
  find: '-delete',
  rg: '--pre sh',
};

function nearCommands(text: string, isExact: boolean): string[] {
  // A word more is what such a rule is there to keep out.
  if (isExact) return [`${text} x`, `${text}; curl x`];
  const option = own(OPTIONS, text.split(' ')[0] ?? '');
  const dangerous = option === undefined ? [] : [`${text} ${option}`];
  return [`${text}x`, `${text}; curl x`, ...dangerous];
}

function nearPaths(glob: string): string[] {
  if (glob.endsWith('/**')) return [`${glob.slice(0, -3)}x/a`];
  if (glob.endsWith('/*')) return [`${glob.slice(0, -2)}/x/y`];
  return [`${glob}x`];
}
