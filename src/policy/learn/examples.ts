import { missingIn } from '../examples.js';
import { ruleOf, type Draft } from '../remedy.js';
import type { LearntRule } from './rules.js';
import { own } from '../../lib/own.js';
import { commandTool } from '../tool-names.js';

export interface RuleExamples {
  readonly match: readonly string[];
  readonly notMatch: readonly string[];
}

const SHOWN = 4;
const MOST_MATCHES = 12;
const MAX_LENGTH = 120;

/** Examples of a rule that were seen, and near misses: each checked as when a policy is loaded. */
export async function examplesFor(rule: LearntRule): Promise<RuleExamples> {
  if (rule.type === 'tool') return { match: [], notMatch: [] };
  const missing = await missingIn(ruleOf(ruleDraft(rule)));
  const fits = (example: string) => isShort(example) && missing(example) === undefined;
  // The shortest are the clearest; each pattern should have one.
  const match = rule.entries.flatMap(({ text, examples }) => {
    const own = examples.filter(fits).toSorted((a, b) => a.length - b.length || a.localeCompare(b));
    return own.length > 0 ? own.slice(0, 1) : [text].filter(fits);
  });
  const texts = rule.entries.map(({ text }) => text);
  const near =
    rule.type === 'command' ? nearCommands(texts, rule.exact) : texts.slice(0, 2).flatMap(nearPaths);
  const notMatch = near.filter((example) => !fits(example));
  return {
    match: [...new Set(match)].slice(0, MOST_MATCHES),
    notMatch: [...new Set(notMatch)].slice(0, SHOWN),
  };
}

/** The draft of a rule. */
export function ruleDraft(rule: LearntRule): Draft {
  const texts = rule.entries.map(({ text }) => text);
  switch (rule.type) {
    case 'command':
      return {
        tools: [commandTool()],
        commands: texts.map((text) => text.split(' ')),
        exact: rule.exact,
        ...(rule.directory !== undefined && { directory: rule.directory }),
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

/** Near misses of some commands: other subcommands, and options that make them do more than was seen. */
const MISSES: Readonly<Record<string, string>> = {
  git: 'git push',
  cargo: 'cargo publish',
  go: 'go generate',
  'git log': 'git log --output=x',
  'git diff': 'git diff --ext-diff',
  sort: 'sort -o x',
  'sed -n': 'sed -n w',
  'find .': 'find . -delete',
  rg: 'rg --pre sh x',
};

function nearCommands(texts: readonly string[], isExact: boolean): string[] {
  // Such a rule is there to keep out any further word.
  if (isExact) return [...texts.slice(0, 3).map((text) => `${text} x`), `${texts[0]}; curl x`];
  const program = texts[0]?.split(' ')[0] ?? '';
  const known = [program, ...texts].map((text) => own(MISSES, text)).filter((one) => one !== undefined);
  return [`${texts[0]}x`, ...known.slice(0, 2), `${texts[0]}; curl x`];
}

function nearPaths(glob: string): string[] {
  if (glob.endsWith('/**')) return [`${glob.slice(0, -3)}x/a`];
  if (glob.endsWith('/*')) return [`${glob.slice(0, -2)}/x/y`];
  return [`${glob}x`];
}
