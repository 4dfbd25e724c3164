import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { realPath } from '../../lib/real-path.js';
import { placesOf } from '../shell/directories.js';
import { FREE } from '../shell/free.js';
import type { Dialect, SimpleCommand } from '../shell/model.js';
import { readScript } from '../shell/read.js';
import { surelyRuns } from '../shell/surely-runs.js';
import { unwrap } from '../shell/wrappers.js';
import { placeOf } from '../shell/written-by.js';
import { exact, lessonOf } from './command-lesson.js';
import type { CommandForm } from './lesson.js';
import { SCRIPT_STARTERS } from './never.js';

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
interface Where {
  readonly named: string;
  readonly sure: string | undefined;
}

const MAX_DEPTH = 4;

/** Programs that start others, and have their own lessons for that. */
const STARTERS = new Set(['git', 'find', 'npx', ...Object.keys(SCRIPT_STARTERS)]);

export function needsOfLine(line: string, directory: string, dialect: Dialect, depth = 0): LineNeeds {
  const reading = readScript(line, depth > 0, dialect);
  if (!reading.ok) return { never: `it cannot be read: ${reading.reason}`, spelt: line };
  const { script } = reading;
  if (!surelyRuns(script))
    return { never: 'not all of it is certain to have run (||, if, loops, exit)', spelt: line };
  const commands: CommandNeed[] = [];
  const writes: string[] = [];
  const places = placesOf(script, directory);
  let where = directory;
  for (const [i, command] of script.commands.entries()) {
    for (const { access, target } of command.redirects) {
      if (target.literal === undefined)
        return { never: 'where it writes is not known', spelt: speltOf(command) };
      if (access === 'write' && !/^\/dev\/(null|stdout|stderr)$/.test(target.literal))
        writes.push(placeOf(where, target.literal));
    }
    const name = command.words[0]?.literal;
    if (name === 'cd') where = placeOf(where, command.words.at(-1)?.literal ?? '.');
    if (command.words.length === 0 || FREE.has(name ?? '')) continue;
    const [sure, ...more] = (places.isFollowed && places.where[i]) || [];
    const place = { named: where, sure: more.length > 0 ? undefined : sure };
    const needs = needsOfCommand(command, place, dialect, depth);
    if ('never' in needs) return needs;
    commands.push(...needs.commands);
    writes.push(...needs.writes);
  }
  return { commands, writes };
}

function needsOfCommand(command: SimpleCommand, where: Where, dialect: Dialect, depth: number): LineNeeds {
  const spelt = speltOf(command);
  const wrapped = unwrap(command.words);
  const [inner] = wrapped?.inner ?? [];
  // Permission for what is in such a wrapper includes the wrapper.
  if (wrapped?.transparent && inner && wrapped.inner.length === 1 && depth < MAX_DEPTH) {
    if (inner.type === 'words')
      return needsOfCommand({ ...command, words: inner.words, redirects: [] }, where, dialect, depth + 1);
    if (inner.type === 'script' && where.sure !== undefined)
      return needsOfLine(inner.source, where.sure, inner.dialect ?? dialect, depth + 1);
  }
  const directory = where.sure;
  const words = exact(command.words);
  const form = words && { form: { words, exact: true } };
  const fault = programFault(command, where.named);
  if (fault !== undefined) return { never: fault, spelt };
  const lesson = lessonOf(command.words);
  // It could hide what is never learnt; only for STARTERS it is known what they may start.
  if (wrapped && 'forms' in lesson && !STARTERS.has(command.words[0]?.literal ?? ''))
    return { never: `${command.words[0]?.text} runs other commands`, spelt, directory, ...form };
  return 'never' in lesson
    ? { never: lesson.never, spelt, directory, ...form }
    : { commands: [{ spelt, forms: lesson.forms, directory }], writes: [] };
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
