import { literalWord } from '../shell/model.js';
import type { Pattern } from '../shell/alias-table.js';
import { hazardOf } from '../shell/programs.js';
import type { Ceiling } from './ceiling.js';
import { seenCounts, type CommandForm, type LearntCall, type Need, type SeenCall } from './lesson.js';
import { OPEN_PROGRAMS } from './never.js';
import { globFor, openFolders, type SeenPath } from './paths.js';

/** A pattern or glob of a rule, with the calls it was learnt from. */
export interface Learnt {
  readonly text: string;
  readonly seen: readonly SeenCall[];
  /** What was seen of it, as written in a rule's examples. */
  readonly examples: readonly string[];
}

/** A future rule: commands of one program, paths of some tools, or a tool. */
export type LearntRule =
  | {
      readonly type: 'command';
      /** A program, or `look` for all that only read and print. */
      readonly program: string;
      /** Nothing may be added to its commands. */
      readonly exact: boolean;
      /** Where they may run, if that is bound. */
      readonly directory?: string;
      readonly entries: readonly Learnt[];
    }
  | { readonly type: 'path'; readonly tools: readonly string[]; readonly entries: readonly Learnt[] }
  | { readonly type: 'tool'; readonly entries: readonly Learnt[] };

export interface Taught {
  readonly rules: readonly LearntRule[];
  /** Calls that the rules are made from. */
  readonly calls: readonly LearntCall[];
  /** Calls that need something seen in too few runs. */
  readonly rare: readonly Rare[];
}

interface Rare {
  readonly call: LearntCall;
  readonly what: string;
  readonly form?: CommandForm;
}

/**
 * Makes rules of what calls need. Needs seen in fewer runs than wanted are dropped, with all calls that have them; what
 * only those calls needed is dropped in turn.
 */
export function teach(calls: readonly LearntCall[], ceiling: Ceiling, minRuns: number): Taught {
  const rare: Rare[] = [];
  let kept = calls;
  for (;;) {
    const entries = ruleEntries(kept, ceiling);
    const tooRare = [...entries.values()].filter(({ seen }) => seenCounts(seen).runs < minRuns);
    if (tooRare.length === 0) return { rules: rulesOf(entries), calls: kept, rare };
    const lost = new Map<LearntCall, Entry>();
    for (const entry of tooRare) for (const call of entry.calls) lost.set(call, entry);
    for (const [call, entry] of lost) rare.push({ call, ...rareThing(entry) });
    kept = kept.filter((call) => !lost.has(call));
  }
}

/** Shows what is left open. */
function rareThing({ type, text, exact, directory }: Entry): Omit<Rare, 'call'> {
  if (type !== 'command') return { what: text };
  return {
    what: exact ? text : `${text} …`,
    form: { words: text.split(' '), exact, ...(directory !== undefined && { directory }) },
  };
}

interface Entry extends Learnt {
  readonly type: Need['type'];
  /** The program of a command, or the group it shares with others; otherwise the tool. */
  readonly of: string;
  readonly exact: boolean;
  readonly directory?: string;
  readonly seen: LearntCall[];
  readonly examples: string[];
  readonly calls: LearntCall[];
}

function ruleEntries(calls: readonly LearntCall[], ceiling: Ceiling): Map<string, Entry> {
  const globs = globsByTool(calls, ceiling);
  const prefixes = shortestOf(calls);
  const entries = new Map<string, Entry>();
  for (const call of calls) {
    const keys = new Set<string>();
    for (const need of call.needs) {
      const { example, ...known } = entryFor(need, globs, prefixes);
      const key = JSON.stringify([need.type, known]);
      const entry = entries.get(key) ?? { type: need.type, ...known, seen: [], examples: [], calls: [] };
      entries.set(key, entry);
      if (!entry.examples.includes(example)) entry.examples.push(example);
      if (!keys.has(key)) {
        entry.seen.push(call);
        entry.calls.push(call);
      }
      keys.add(key);
    }
  }
  return entries;
}

/** An open form covers everything that begins like it. */
function shortestOf(calls: readonly LearntCall[]): (form: CommandForm) => CommandForm {
  const open = calls.flatMap(({ needs }) =>
    needs.flatMap((need) => (need.type === 'command' && !need.form.exact ? [need.form] : [])),
  );
  const keyOf = (words: Pattern, directory?: string) => JSON.stringify([directory, words]);
  const known = new Map(open.map((form) => [keyOf(form.words, form.directory), form]));
  return (form) => {
    const { words, directory } = form;
    for (let length = 1; length <= words.length; length++) {
      const start = words.slice(0, length);
      const shorter = known.get(keyOf(start)) ?? known.get(keyOf(start, directory));
      if (shorter && !hazardOf(words.map(literalWord), length)) return shorter;
    }
    return form;
  };
}

/** The pattern for each file that a tool was given. */
function globsByTool(calls: readonly LearntCall[], ceiling: Ceiling): (tool: string, path: string) => string {
  const seen = new Map<string, Map<string, SeenPath & { readonly approved: boolean }>>();
  for (const { run, call, needs } of calls)
    for (const need of needs) {
      if (need.type !== 'path') continue;
      const { tool, path } = need;
      const paths = seen.get(tool) ?? seen.set(tool, new Map()).get(tool);
      paths?.set(JSON.stringify([path, run, call.approved]), { path, run, approved: call.approved });
    }
  const globs = new Map<string, string>();
  for (const [tool, found] of seen) {
    const paths = [...found.values()];
    const within = (approved: boolean) => (glob: string) => ceiling.coversPath(tool, 'edit', glob, approved);
    // What people approved opens a folder by itself; what was done without them does not close it again.
    const agreed = paths.filter(({ approved }) => approved);
    const open = [...openFolders(paths, within(false)), ...openFolders(agreed, within(true))];
    for (const { path } of paths) globs.set(JSON.stringify([tool, path]), globFor(path, open));
  }
  return (tool, path) => globs.get(JSON.stringify([tool, path])) ?? path;
}

function entryFor(
  need: Need,
  globs: ReturnType<typeof globsByTool>,
  shortest: (form: CommandForm) => CommandForm,
): Pick<Entry, 'of' | 'text' | 'exact' | 'directory'> & { readonly example: string } {
  switch (need.type) {
    case 'command': {
      const { words, ...bounds } = shortest(need.form);
      const [program = ''] = words;
      // Programs that only read and print share a rule.
      const of = !bounds.exact && OPEN_PROGRAMS.has(program) ? 'look' : program;
      return { of, text: words.join(' '), ...bounds, example: need.spelt };
    }
    case 'path':
      return {
        of: need.tool,
        text: globs(need.tool, need.path),
        exact: false,
        example: need.path,
      };
    case 'tool':
      return { of: need.tool, text: need.tool, exact: false, example: need.tool };
    default:
      return need satisfies never;
  }
}

/** Commands by program, paths by the tools that share them, tools one by one. */
function rulesOf(all: ReadonlyMap<string, Entry>): LearntRule[] {
  const entries = [...all.values()].toSorted((a, b) => a.text.localeCompare(b.text));
  const groups = (type: Need['type'], exact = false) => {
    const found = new Map<string, Entry[]>();
    for (const entry of entries) {
      if (entry.type !== type || entry.exact !== exact) continue;
      const key = JSON.stringify([entry.of, entry.directory]);
      found.set(key, [...(found.get(key) ?? []), entry]);
    }
    return [...found].toSorted(([a], [b]) => a.localeCompare(b)).map(([, list]) => list);
  };
  const commands = [false, true].flatMap((exact) =>
    groups('command', exact).map((list): LearntRule => {
      const [{ of: program, directory }] = list as [Entry];
      return {
        type: 'command',
        program,
        exact,
        ...(directory !== undefined && { directory }),
        entries: list,
      };
    }),
  );
  const tools = groups('tool').map((list): LearntRule => ({ type: 'tool', entries: list }));
  return [...commands, ...pathRules(groups('path')), ...tools];
}

function pathRules(groups: readonly (readonly Entry[])[]): LearntRule[] {
  const byPaths = new Map<string, { tools: string[]; entries: Map<string, Entry> }>();
  for (const list of groups) {
    const key = JSON.stringify(list.map(({ text }) => text));
    const group = byPaths.get(key) ?? { tools: [], entries: new Map<string, Entry>() };
    byPaths.set(key, group);
    group.tools.push(...list.slice(0, 1).map(({ of }) => of));
    for (const entry of list) {
      const before = group.entries.get(entry.text);
      group.entries.set(
        entry.text,
        before
          ? {
              ...before,
              seen: [...before.seen, ...entry.seen],
              examples: [...new Set([...before.examples, ...entry.examples])],
            }
          : entry,
      );
    }
  }
  return [...byPaths.values()].map(({ tools, entries }) => ({
    type: 'path',
    tools,
    entries: [...entries.values()],
  }));
}
