import { count, revealedLine } from '../../lib/text.js';
import { yamlText } from '../../lib/yaml.js';
import { yamlOf } from '../remedy.js';
import type { Carried } from './carried.js';
import { examplesFor } from './examples.js';
import { commandDraft } from './learn.js';
import { seenCounts, type SeenCall, type Unlearnt } from './lesson.js';
import type { LearntRule } from './rules.js';
import { commandTool } from '../tool-names.js';

/** The first words of every policy written here: such a file may be overwritten. */
export const HEADER = '# Written by bosun policy learn, for review. Nothing applies it automatically.';

export interface PolicyText {
  /** What it was learnt from and what not, one line each. */
  readonly about: readonly string[];
  readonly carried: Carried;
  readonly rules: readonly LearntRule[];
  readonly unlearnt: readonly Unlearnt[];
  /** Rules that would allow what was denied, each with what it would open. */
  readonly proposals?: readonly string[];
}

/** The whole policy, written like a person would who has seen the runs. */
export async function policyText({
  about,
  carried,
  rules,
  unlearnt,
  proposals = [],
}: PolicyText): Promise<string> {
  const parts = [
    [HEADER, ...about.map(comment)].join('\n'),
    yamlText({ version: 1, mode: 'plan', on_ask: 'deny', ...carried.keys }).trimEnd(),
  ];
  const own = await ruleTexts(rules);
  const strict = carried.rules.map((rule) => indented(yamlText([rule]).trimEnd()));
  if (own.length + strict.length > 0)
    parts.push(
      [
        'rules:',
        ...own,
        ...(strict.length > 0 ? ['  # Carried over from the ceiling: it stays denied.', ...strict] : []),
      ].join('\n'),
    );
  parts.push(...unlearntText(unlearnt), ...proposals.map((text) => text.trimEnd()));
  return `${parts.join('\n')}\n`;
}

/** Items of `rules`, under headings. */
export async function ruleTexts(
  rules: readonly LearntRule[],
  taken: readonly string[] = [],
): Promise<string[]> {
  const ids = new Set<string>(taken);
  const days = new Set(rules.flatMap(({ entries }) => entries.flatMap(({ seen }) => seen.map(dayOf))));
  const lines: string[] = [];
  let heading = '';
  for (const rule of rules) {
    const about = rule.type === 'command' && rule.exact ? 'exact' : rule.type;
    if (about !== heading) lines.push(`  # ${HEADINGS[about]}`);
    heading = about;
    lines.push(await ruleText(rule, ids, days.size > 1));
  }
  return lines;
}

const HEADINGS: Readonly<Record<LearntRule['type'] | 'exact', string>> = {
  command: 'Commands. Further words are allowed, inside the workspace and without options that do more.',
  exact: 'Commands exactly as they were seen.',
  path: 'Files that were written.',
  tool: 'Tools by name.',
};

async function ruleText(rule: LearntRule, ids: Set<string>, isDated: boolean): Promise<string> {
  const { match, notMatch } = await examplesFor(rule);
  const all = uniqueCalls(rule.entries.flatMap(({ seen }) => seen));
  const key = rule.type === 'command' ? 'command' : rule.type === 'path' ? 'path' : undefined;
  const tools =
    rule.type === 'command'
      ? [commandTool()]
      : rule.type === 'path'
        ? rule.tools
        : rule.entries.map(({ text }) => text);
  const lines = [
    `  - id: ${word(uniqueId(rule, ids))}`,
    `    tool: ${tools.length === 1 ? word(tools[0] as string) : `[${tools.map(word).join(', ')}]`}`,
    ...(key
      ? [
          `    ${key}:`,
          ...rule.entries.map(
            ({ text, seen }) => `      - ${word(text)} # ${often(seen)}${isDated ? lastOf(seen) : ''}`,
          ),
        ]
      : []),
    ...(rule.type === 'command' && rule.exact ? ['    exact: true'] : []),
    ...(rule.type === 'command' && rule.directory !== undefined
      ? [`    directory: ${word(rule.directory)}`]
      : []),
    '    decision: allow',
    `    reason: seen ${often(all)}`,
    ...listText('match', match),
    ...listText('not_match', notMatch),
  ];
  return lines.join('\n');
}

const WIDTH = 100;

function listText(key: string, values: readonly string[]): string[] {
  if (values.length === 0) return [];
  const texts = values.map((text) =>
    /^[ !"#-&(-~]*"[ !"#-&(-~]*$/.test(text) ? `'${text}'` : jsonText(text),
  );
  const line = `    ${key}: [${texts.join(', ')}]`;
  return line.length <= WIDTH ? [line] : [`    ${key}:`, ...texts.map((text) => `      - ${text}`)];
}

/** `14 × in 6 runs`, for reasons. */
export function often(seen: readonly SeenCall[]): string {
  const { times, runs } = seenCounts(seen);
  return `${times} × in ${count(runs, 'run')}`;
}

function dayOf({ date }: SeenCall): string {
  return date.slice(0, 10);
}

/** If everything is from one day, the head names it. */
function lastOf(seen: readonly SeenCall[]): string {
  return `, last on ${seen.map(dayOf).toSorted().at(-1)}`;
}

function uniqueCalls(seen: readonly SeenCall[]): SeenCall[] {
  const known = new Map(seen.map((one) => [`${one.run} ${one.call.id}`, one]));
  return [...known.values()];
}

/** Says what the rule is about, and stays the same if the rule does. */
function uniqueId(rule: LearntRule, ids: Set<string>): string {
  const about =
    rule.type === 'command'
      ? `${rule.program} ${rule.directory ?? ''}`
      : rule.type === 'path'
        ? rule.tools.join('-')
        : (rule.entries[0]?.text ?? '');
  const slug = about.match(/[A-Za-z\d]+/g)?.join('-') ?? 'rule';
  const base = slug.slice(0, 40).toLowerCase();
  let id = rule.type === 'command' && rule.exact && ids.has(base) ? `${base}-exact` : base;
  for (let n = 2; ids.has(id); n++) id = `${base}-${n}`;
  ids.add(id);
  return id;
}

/** Without quotes if it cannot be read as anything else. */
function word(text: string): string {
  return /^(?:[A-Za-z]|\.\/)[\w./-]*( [\w./-]+)*$/.test(text) &&
    !/^(true|false|null|yes|no|on|off|[\d.e]+)$/i.test(text)
    ? text
    : jsonText(text);
}

/** JSON is YAML, except for characters that lines cannot contain. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\u007f-\u009f\u2028\u2029\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Always one line: nothing that was recorded gets out of its comment. */
export function comment(text: string): string {
  return text === '' ? '#' : `# ${revealedLine(text, 400)}`;
}

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ');
}

function unlearntText(unlearnt: readonly Unlearnt[]): string[] {
  if (unlearnt.length === 0) return [];
  const lines = ['', comment('Seen, but not learnt. To allow any of it, add rules yourself:')];
  for (const { what, why, seen, form } of mostSeen(unlearnt)) {
    lines.push(comment(`- ${revealedLine(what, 200)}`), `#   ${revealedLine(`${often(seen)}: ${why}`, 400)}`);
    if (form) lines.push(...commented(yamlOf(commandDraft(form))));
  }
  if (unlearnt.length > MOST_THINGS)
    lines.push(comment(`… and ${unlearnt.length - MOST_THINGS} more, seen less often (--json has them all)`));
  return [lines.join('\n')];
}

/** Nobody reads more than that. */
const MOST_THINGS = 100;

function mostSeen(unlearnt: readonly Unlearnt[]): readonly Unlearnt[] {
  if (unlearnt.length <= MOST_THINGS) return unlearnt;
  const shown = new Set(unlearnt.toSorted((a, b) => b.seen.length - a.seen.length).slice(0, MOST_THINGS));
  return unlearnt.filter((one) => shown.has(one));
}

/** YAML as a comment, its indentation kept. */
export function commented(yaml: string): string[] {
  return yaml
    .trimEnd()
    .split('\n')
    .map((line) => `#   ${line}`);
}
