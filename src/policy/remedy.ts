import { attempt } from '../lib/attempt.js';
import { sha256 } from '../lib/ids.js';
import { pathFrom, realPath } from '../lib/real-path.js';
import type {
  Decision,
  DecisionRequest,
  DetailedCommand,
  Policy,
  PolicyAnswer,
  Remedy,
} from '../protocol/decision.js';
import { resolve } from 'node:path';
import type { Rule } from './document.js';
import { isWide, lint } from './lint.js';
import { modeOnly } from './document.js';
import { withoutIdle } from './shell/idle-options.js';
import { literalWord } from './shell/model.js';
import { fileTool, takesCommand, traitsOf } from './tool-names.js';

/** The policies of a run with more rules in each of them. */
export type WithRules = (rules: readonly Rule[]) => Policy;

/** The essential keys of a new rule. */
export type Draft = Pick<Rule, 'tools' | 'commands' | 'exact' | 'directory' | 'paths'>;

/** Nobody would read more. */
const MAX_DRAFTS = 50;

/**
 * The smallest rules that would have allowed a call. Only what the policies themselves confirm is proposed, and no
 * rule that covers more than the call.
 */
export async function remedyFor(
  request: DecisionRequest,
  answer: Decision,
  withRules: WithRules,
  workspace: string,
): Promise<Remedy> {
  const trial: Trial = {
    answer,
    decide: (drafts) => withRules(drafts.map(ruleOf)).decide(request),
  };
  // If not even a rule for all calls of the tool helps, no rule is the cause.
  const everything = { tools: [request.tool], commands: undefined, paths: undefined };
  const widest = await enough(trial, (decided) => [everything, ...filesIn(decided, workspace)]);
  if ('none' in widest) return widest;
  // xargs may add words, so that a rule for all of them is not possible.
  for (const exact of takesCommand(request.tool) ? [true, false] : [false]) {
    const found = await enough(trial, (decided) => draftsFor(request, decided, workspace, exact));
    const drafts = 'none' in found ? [] : await smallest(found.drafts, trial);
    if (drafts.length > 0 && !drafts.some(isBroad))
      return { rules: `rules:\n${mergeDrafts(drafts).map(yamlOf).join('')}` };
  }
  return { none: 'no rule can name just this call' };
}

interface Trial {
  /** The decision without more rules. */
  readonly answer: Decision;
  readonly decide: (drafts: readonly Draft[]) => Promise<PolicyAnswer>;
}

/** Adds rules for everything that is denied, until nothing is. A second denial shows only when the first is gone. */
async function enough(
  { answer, decide }: Trial,
  propose: (decided: Decision) => readonly Draft[],
): Promise<{ readonly drafts: readonly Draft[] } | { readonly none: string }> {
  const drafts = new Map<string, Draft>();
  let decided = answer;
  while (decided.decision !== 'allow') {
    const { rule } = decided;
    if (rule) return { none: `rule ${rule.id} (${rule.file}:${rule.line}) decides this: change it there` };
    const known = drafts.size;
    for (const draft of propose(decided)) drafts.set(idOf(draft), draft);
    if (drafts.size === known || drafts.size > MAX_DRAFTS) return { none: 'no rule allows this' };
    const next = await decide([...drafts.values()]);
    if ('outside' in next) return { none: 'no rule allows this' };
    decided = next;
  }
  return { drafts: [...drafts.values()] };
}

/** Puts all commands into one rule. */
function mergeDrafts(drafts: readonly Draft[]): Draft[] {
  const lines = drafts.filter((draft) => draft.commands);
  const others = drafts.filter((draft) => !draft.commands);
  if (lines.length === 0) return others;
  const commands = lines.flatMap((draft) => draft.commands ?? []);
  const tools = [...new Set(lines.flatMap((draft) => draft.tools))];
  const exact = lines.every((draft) => draft.exact);
  return [{ tools, commands, exact, paths: undefined }, ...others];
}

/** What may allow it. */
function draftsFor(
  { tool, paths }: DecisionRequest,
  answer: Decision,
  workspace: string,
  exact: boolean,
): Draft[] {
  if (takesCommand(tool)) {
    const commands = refusedIn(answer).flatMap(({ words, file }) => (file ? [] : patternsFor(words, exact)));
    const drafts = commands.map((words): Draft => ({
      tools: [tool],
      commands: [words],
      exact,
      paths: undefined,
    }));
    return [...drafts, ...filesIn(answer, workspace)];
  }
  if (!traitsOf(tool).takesPaths)
    return tool.includes('*') ? [] : [{ tools: [tool], commands: undefined, paths: undefined }];
  const globs = paths.map(({ path }) => globFor(path, workspace));
  return globs.length > 0 ? [{ tools: [tool], commands: undefined, paths: [...new Set(globs)] }] : [];
}

/** The more words a pattern has, the less it covers. */
const commandLength = ({ commands }: Draft) => commands?.[0]?.length ?? Infinity;

/** Leaves out unneeded rules, the widest first. */
async function smallest(drafts: readonly Draft[], { decide }: Trial): Promise<readonly Draft[]> {
  const allows = async (some: readonly Draft[]) => {
    const decided = await decide(some);
    return !('outside' in decided) && decided.decision === 'allow';
  };
  let needed = drafts;
  for (const draft of drafts.toSorted((a, b) => commandLength(a) - commandLength(b))) {
    const fewer = needed.filter((one) => one !== draft);
    if (fewer.length > 0 && (await allows(fewer))) needed = fewer;
  }
  return needed;
}

/** The simple commands that keep a line from running: those inside a script, not the shell around it. */
function refusedIn({ commands = [] }: Decision): DetailedCommand[] {
  return commands.flatMap(leaves).filter(({ decision }) => decision !== 'allow');
}

function leaves(command: DetailedCommand): DetailedCommand[] {
  return command.inner && command.inner.length > 0 ? command.inner.flatMap(leaves) : [command];
}

/** Redirections are decided like the tool that they replace. */
function filesIn(answer: Decision, workspace: string): Draft[] {
  return refusedIn(answer).flatMap(({ file }): Draft[] => {
    if (!file) return [];
    return [{ tools: [fileTool(file.access)], commands: undefined, paths: [globFor(file.path, workspace)] }];
  });
}

/** As a policy takes it. */
const PLAIN_WORD = /^[\w@%+=:,./~^-]+$/;

/** The whole command, and what follows a wrapper in it. None if a word cannot be in a pattern. */
function patternsFor(texts: readonly string[], exact: boolean): string[][] {
  const words = texts.map((text) => text.replace(/^(['"])(.*)\1$/s, '$2'));
  if (!words.every((word) => PLAIN_WORD.test(word))) return [];
  return words.slice(0, MAX_WRAPPING).flatMap((_, i) => {
    const rest = words.slice(i);
    if (exact) return [rest];
    return [withoutIdle(rest.map(literalWord)).map(({ value }) => value)];
  });
}

/** The most words of a wrapper before its command. */
const MAX_WRAPPING = 6;

/** Matches this path and no other. */
function globFor(path: string, workspace: string): string {
  const asked = resolve(workspace, path);
  const way = pathFrom(workspace, attempt(() => realPath(asked)) ?? asked);
  return (way || '.').replaceAll(/[\\*?[\]{}()!+@|,^$]/g, String.raw`\$&`);
}

export function ruleOf(draft: Draft): Rule {
  return {
    ...draft,
    reference: { id: idOf(draft), file: '', line: 0 },
    when: undefined,
    decision: 'allow',
    reason: '',
    match: [],
    notMatch: [],
  };
}

/** Whether `bosun policy lint` would warn about it. */
export function isBroad(draft: Draft): boolean {
  const rule = { ...ruleOf(draft), match: ['as it was called'] };
  return lint({ ...modeOnly('plan'), rules: [rule] }).length > 0 || (rule.commands ?? []).some(isWide);
}

/** Says what the rule is about, and is equal for equal rules. */
function idOf({ tools, commands, exact, directory, paths }: Draft): string {
  const about = [commands?.[0]?.join(' ') ?? paths?.[0] ?? '', ...tools].find(Boolean) ?? '';
  const slug =
    about
      .toLowerCase()
      .match(/[a-z\d]+/g)
      ?.slice(0, 4)
      .join('-') ?? 'call';
  const bounds = [...(exact ? ['exact'] : []), ...(directory === undefined ? [] : [{ directory }])];
  return `allow-${slug.slice(0, 40)}-${sha256(JSON.stringify([tools, commands, paths, ...bounds])).slice(0, 6)}`;
}

/** An item of `rules`. JSON strings are YAML strings. */
export function yamlOf(draft: Draft): string {
  const { tools, commands, exact, directory, paths } = draft;
  const quoted = (values: readonly string[]) => values.map((value) => JSON.stringify(value)).join(', ');
  const lines = [
    `  - id: ${idOf(draft)}`,
    `    tool: ${tools.map((tool) => (/^\w+$/.test(tool) ? tool : JSON.stringify(tool))).join(', ')}`,
    ...(commands ? [`    command: [${quoted(commands.map((words) => words.join(' ')))}]`] : []),
    ...(exact ? ['    exact: true'] : []),
    ...(directory === undefined ? [] : [`    directory: ${JSON.stringify(directory)}`]),
    ...(paths ? [`    path: [${quoted(paths)}]`] : []),
    '    decision: allow',
  ];
  return `${lines.join('\n')}\n`;
}
