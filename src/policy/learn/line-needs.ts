import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { realPath } from '../../lib/real-path.js';
import { placesOf } from '../shell/directories.js';
import { fedCommands } from '../shell/fed.js';
import { FREE } from '../shell/free.js';
import type { Dialect, ShellScript, ShellWord, SimpleCommand } from '../shell/model.js';
import { readScript } from '../shell/read.js';
import { surelyRuns } from '../shell/surely-runs.js';
import type { Unwrapped } from '../shell/unwrapped.js';
import { unwrap } from '../shell/wrappers.js';
import { placeOf } from '../shell/written-by.js';
import { exact, lessonOf, type CommandLesson } from './command-lesson.js';
import type { CommandForm } from './lesson.js';
import { SCRIPT_STARTERS } from './never.js';
import { goesByFiles } from './script-changes.js';

/** One simple command of a line, and what it teaches. */
export interface CommandNeed {
  /** As written, in one line. */
  readonly spelt: string;
  /** The widest first. */
  readonly forms: readonly CommandForm[];
  /** Where it ran; undefined if that is not certain. */
  readonly directory: string | undefined;
}

/** What a command line needs to be allowed, or why no rule is made of it. */
export type LineNeeds =
  | {
      readonly commands: readonly CommandNeed[];
      /** Files that it writes by redirection, relative to the workspace. */
      readonly writes: readonly string[];
    }
  | {
      readonly never: string;
      /** The command, and what a rule about it would name, if one can. */
      readonly spelt: string;
      readonly form?: CommandForm;
      readonly directory?: string | undefined;
    };

/** Where a command runs: by its words, and for certain, as a policy must know it. */
export interface Where {
  readonly named: string;
  readonly sure: string | undefined;
  readonly dialect: Dialect;
  /** Something is piped or redirected to it. */
  readonly isFed: boolean;
  /** Variables that are set for it by what starts it. */
  readonly variables: readonly string[];
  readonly depth: number;
}

/** Variables that only change how something is printed, or that are set anyway. */
const IDLE_VARIABLE = /^(CI|(NO|FORCE)_COLOR|CLICOLOR(_FORCE)?|TERM|COLUMNS|LINES|LANG(UAGE)?|LC_[A-Z]+)$/;

export const MAX_DEPTH = 4;

/** Programs that start others, and have their own lessons for that. */
const STARTERS = new Set(['git', 'find', 'npx', ...Object.keys(SCRIPT_STARTERS)]);

export function needsOfLine(line: string, directory: string, dialect: Dialect): LineNeeds {
  return needsOfScript(line, directory, outsideOf(dialect));
}

/** What a command inherits from what the line is in. */
export type Outside = Omit<Where, 'named' | 'sure'>;

/** For a line of its own. */
export function outsideOf(dialect: Dialect): Outside {
  return { dialect, isFed: false, variables: [], depth: 0 };
}

function needsOfScript(line: string, directory: string, outside: Outside): LineNeeds {
  const { dialect, depth } = outside;
  const reading = readScript(line, depth > 0, dialect);
  if (!reading.ok) return { never: `it cannot be read: ${reading.reason}`, spelt: line };
  const { script } = reading;
  if (!surelyRuns(script))
    return { never: 'not all of it is certain to have run (||, if, loops, exit)', spelt: line };
  const commands: CommandNeed[] = [];
  const writes: string[] = [];
  for (const { command, where } of placedCommands(script, directory, outside)) {
    for (const { access, target } of command.redirects) {
      if (target.literal === undefined)
        return { never: 'where it writes is not known', spelt: speltOf(command) };
      if (access === 'write' && !/^\/dev\/(null|stdout|stderr)$/.test(target.literal))
        writes.push(placeOf(where.named, target.literal));
    }
    if (command.words.length === 0 || FREE.has(command.words[0]?.literal ?? '')) continue;
    const needs = needsOfCommand(command, where);
    if ('never' in needs) return needs;
    commands.push(...needs.commands);
    writes.push(...needs.writes);
  }
  return { commands, writes };
}

/** The commands of a line, and where each runs. */
export function placedCommands(script: ShellScript, directory: string, outside: Outside) {
  const places = placesOf(script, directory);
  const fed = fedCommands(script);
  let named = directory;
  return script.commands.map((command, i) => {
    if (command.words[0]?.literal === 'cd') named = placeOf(named, command.words.at(-1)?.literal ?? '.');
    const [sure, ...more] = (places.isFollowed && places.where[i]) || [];
    const isFed = outside.isFed || (command.node !== undefined && fed.has(command.node));
    const where: Where = { ...outside, named, sure: more.length > 0 ? undefined : sure, isFed };
    return { command, where };
  });
}

/** What one of its commands needs. */
export function needsOfCommand(command: SimpleCommand, where: Where): LineNeeds {
  const wrapped = unwrap(command.words);
  const variables = [...where.variables, ...command.assignments, ...(wrapped?.assignments ?? [])];
  const inside = wrapped && needsInside(wrapped, command, { ...where, variables });
  if (inside) return inside;
  const lesson = lessonIn(command, { ...where, variables });
  const [spelt, directory] = [speltOf(command), where.sure];
  if ('forms' in lesson) return { commands: [{ spelt, forms: lesson.forms, directory }], writes: [] };
  const words = exact(command.words);
  return { never: lesson.never, spelt, directory, ...(words && { form: { words, exact: true } }) };
}

/** Permission for what is in such a wrapper includes the wrapper. Undefined if the wrapper itself is the command. */
function needsInside(
  { transparent, inner: all }: Unwrapped,
  command: SimpleCommand,
  where: Where,
): LineNeeds | undefined {
  const [inner, ...more] = all;
  if (!transparent || !inner || more.length > 0 || where.depth >= MAX_DEPTH) return undefined;
  const within = { ...where, depth: where.depth + 1 };
  if (inner.type === 'words')
    return needsOfCommand({ ...command, words: inner.words, redirects: [] }, within);
  if (inner.type !== 'script' || where.sure === undefined) return undefined;
  return needsOfScript(inner.source, where.sure, { ...within, dialect: inner.dialect ?? where.dialect });
}

/** The lesson of a command, unless something about this call forbids it. */
function lessonIn(command: SimpleCommand, where: Where): CommandLesson {
  const { words } = command;
  const fault = programFault(command, where.named);
  if (fault !== undefined) return { never: fault };
  const lesson = lessonOf(words);
  if ('never' in lesson) return lesson;
  const [first] = words;
  // It could hide what is never learnt; only for STARTERS it is known what they may start.
  if (unwrap(words) && !STARTERS.has(first?.literal ?? ''))
    return { never: `${first?.text} runs other commands` };
  const unnamed = unnamedPart(words, where);
  return unnamed === undefined ? lesson : { never: unnamed };
}

/** What decides about a command and cannot be in a rule: without it, the rule would allow more than was seen. */
function unnamedPart(words: readonly ShellWord[], { isFed, variables }: Where): string | undefined {
  if (!goesByFiles(words.map(({ literal = '' }) => literal))) return undefined;
  if (isFed) return 'it may do whatever its input says';
  const variable = variables.find((name) => !IDLE_VARIABLE.test(name));
  return variable && `${variable} may decide what it does, and no rule can name a variable`;
}

/** Why a program named by its path may have been any: it is not the file of that name, or cannot be checked. */
function programFault({ words }: SimpleCommand, directory: string): string | undefined {
  const name = words[0]?.literal ?? '';
  if (!name.includes('/') || name.startsWith('/')) return undefined;
  const path = resolve(directory, name);
  const real = attempt(() => realPath(path));
  if (real !== attempt(() => join(realPath(directory), relative(directory, path))))
    return 'its program is behind a link';
  return existsSync(path) ? undefined : 'its program is not here (any more), and could have been any';
}

function speltOf({ words }: SimpleCommand): string {
  return words.map(({ text }) => text).join(' ');
}
