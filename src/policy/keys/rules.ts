import { normalize } from 'node:path';
import type { FromSchema } from '../../protocol/from-schema.js';
import type { RuleReference, DecisionWord } from '../../protocol/decision.js';
import { policyProblem, type PolicySource } from '../place.js';
import type { Pattern } from '../shell/alias-table.js';
import { takesCommand, traitsOf } from '../tool-names.js';
import { key } from './row.js';
import { object, oneOf, PARALLEL, text, textOrTexts, texts, booleanKey } from './schemas.js';
import { nameTools } from './tool-patterns.js';

const RULE = object(
  'What happens to calls that match. Of all rules that match, the strictest counts: deny over ask over allow.',
  {
    id: text('Its name in decisions and denials.', { pattern: '^[\\w.-]+$', examples: ['tests'] }),
    tool: textOrTexts('Names of tools; * matches any characters.', [
      'run_shell_command',
      ['write_file', 'replace'],
    ]),
    command: textOrTexts('For run_shell_command: the first words of one simple command.', [
      ['npm test', 'git diff'],
    ]),
    exact: booleanKey(
      'For an allow with `command`: the simple command must be these words and nothing more (false: it may go on).',
    ),
    directory: text(
      'For an allow with `command`: the one folder that the command may run in, relative to the workspace (`.`: the workspace itself).',
      { pattern: '^(?!/)(?!(.*/)?\\.\\.(/|$))', examples: ['.', 'packages/app'] },
    ),
    path: textOrTexts('For file tools: globs, relative to the workspace.', [['src/**', 'test/**']]),
    when: oneOf(['untrusted'], 'Only if the run has untrusted input.'),
    decision: oneOf(['allow', 'ask', 'deny'], 'What happens.'),
    reason: text('Why, for the model and for people.'),
    parallel: PARALLEL,
    match: texts('Command lines or paths that the rule must match. Checked when the policy is loaded.'),
    not_match: texts('Command lines or paths that the rule must not match.'),
  },
  ['id', 'tool', 'decision'],
);

export type WrittenRule = FromSchema<typeof RULE>;

/** A rule, ready to be compared with calls. */
export interface Rule {
  readonly reference: RuleReference;
  /** Names of our tools, and patterns for other names. */
  readonly tools: readonly string[];
  readonly commands: readonly Pattern[] | undefined;
  /** Its commands are whole ones, not beginnings. */
  readonly exact?: boolean;
  /** Its commands run in this folder of the workspace, and in no other. */
  readonly directory?: string;
  readonly paths: readonly string[] | undefined;
  readonly when: 'untrusted' | undefined;
  readonly decision: DecisionWord;
  readonly reason: string;
  /** Whether its calls may run beside others; undefined if it does not say. */
  readonly parallel?: boolean;
  readonly match: readonly string[];
  readonly notMatch: readonly string[];
}

export const RULES = {
  rules: key(
    { type: 'array', minItems: 1, items: RULE, description: 'Decisions about particular calls.' },
    {
      key: 'rules',
      read: (rules, source) => rules.map((rule, i) => compileRule(rule, i, rules, source)),
      empty: [],
      extend: 'append',
      combine: 'own',
    },
  ),
} as const;

/** The index of a file's rule by its id; -1 if none. */
export function ruleIndex({ value }: PolicySource, wanted: string): number {
  return ((value['rules'] ?? []) as readonly WrittenRule[]).findIndex(({ id }) => id === wanted);
}

const asList = (one: string | readonly string[] | undefined): readonly string[] | undefined =>
  typeof one === 'string' ? [one] : one;

function compileRule(
  raw: WrittenRule,
  index: number,
  all: readonly WrittenRule[],
  source: PolicySource,
): Rule {
  const at = (...path: (string | number)[]) => ['rules', index, ...path];
  const isSecond = all.findIndex(({ id }) => id === raw.id) !== index;
  if (isSecond) throw policyProblem(source, at('id'), `there are two rules with the id \`${raw.id}\``);
  const reference: RuleReference = { id: raw.id, file: source.file, line: source.locate(at()).line };
  const commands = asList(raw.command);
  const paths = asList(raw.path);
  const denies = { also: raw.decision !== 'allow' };
  const meant = (asList(raw.tool) ?? []).flatMap((name, i) => nameTools(name, source, at('tool', i), denies));
  // With a path, a pattern such as `*_file` means only our own tools.
  const own = commands || paths ? meant.filter((tool) => !tool.includes('*')) : meant;
  const tools = own.length > 0 ? own : meant;
  const odd = MISFITS.find(({ applies }) => applies(raw, tools));
  if (odd) throw policyProblem(source, at(odd.key), odd.problem);
  return {
    reference,
    // Which paths an unknown tool takes is unknown, too.
    tools: paths && denies.also ? [...new Set(meant)] : tools,
    commands: commands?.map((pattern, i) => patternWords(pattern, source, at('command', i))),
    ...bounds(raw),
    paths,
    when: raw.when,
    decision: raw.decision,
    reason: raw.reason ?? `rule ${raw.id}`,
    ...(raw.parallel !== undefined && { parallel: raw.parallel }),
    match: raw.match ?? [],
    notMatch: raw.not_match ?? [],
  };
}

/** What limits an allow to less than its patterns. */
function bounds({ exact, directory }: WrittenRule): Pick<Rule, 'exact' | 'directory'> {
  return {
    ...(exact && { exact: true }),
    ...(directory !== undefined && { directory: plainFolder(directory) }),
  };
}

/** Keys that make no sense together. */
const MISFITS: readonly {
  readonly key: keyof WrittenRule;
  readonly problem: string;
  readonly applies: (rule: WrittenRule, tools: readonly string[]) => boolean;
}[] = [
  {
    key: 'command',
    problem: '`command` goes with run_shell_command only',
    applies: ({ command }, tools) => command !== undefined && !tools.every(takesCommand),
  },
  {
    key: 'path',
    problem: '`path` goes with tools that take a path only',
    applies: ({ path }, tools) => path !== undefined && tools.some((tool) => !traitsOf(tool).takesPaths),
  },
  {
    key: 'exact',
    problem: '`exact` goes with `command` and `decision: allow` only: leave it out here',
    applies: ({ exact, command, decision }) =>
      exact !== undefined && (command === undefined || decision !== 'allow'),
  },
  {
    key: 'directory',
    problem: '`directory` goes with `command` and `decision: allow` only: leave it out here',
    applies: ({ directory, command, decision }) =>
      directory !== undefined && (command === undefined || decision !== 'allow'),
  },
  {
    key: 'match',
    problem: 'examples need a `command` or a `path` to be checked against',
    applies: ({ match, not_match, command, path }) =>
      (match ?? not_match) !== undefined && command === undefined && path === undefined,
  },
  {
    key: 'parallel',
    problem: '`parallel` makes no sense for denied calls',
    applies: ({ parallel, decision }) => parallel !== undefined && decision === 'deny',
  },
];

/** For comparing folders: `./src/` is `src`. */
function plainFolder(written: string): string {
  return normalize(written).replace(/(?<=.)\/$/, '');
}

/** A pattern is compared word by word, so it contains only plain words and nothing special to a shell. */
function patternWords(pattern: string, source: PolicySource, path: readonly (string | number)[]): string[] {
  if (!/^[\w@%+=:,./~^-]+(\s+[\w@%+=:,./~^-]+)*$/.test(pattern.trim())) {
    throw policyProblem(
      source,
      path,
      `\`${pattern}\` is not a list of plain words (no quotes, globs or operators)`,
    );
  }
  return pattern.trim().split(/\s+/);
}
