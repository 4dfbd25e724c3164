import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { realPath } from '../../lib/real-path.js';
import { MAX_PLACES, type CommandContext } from './context.js';
import type { Scope, ShellScript, SimpleCommand } from './model.js';

/** The folders that each command of a line may run in. */
export interface Places {
  readonly where: readonly (readonly string[])[];
  /** There are more than are tracked. */
  readonly isLost: boolean;
  /** Whether no command moves in a way that is not tracked. */
  readonly isFollowed: boolean;
}

export function placesOf({ commands, functions }: ShellScript, start: string): Places {
  const places = new Directories(start);
  let isLost = false;
  const where = commands.map((command) => {
    const directories = places.enter(command.scopes);
    const after = directoriesAfter(command, directories);
    isLost ||= after.length > MAX_PLACES;
    places.change(after.slice(0, MAX_PLACES));
    return directories;
  });
  const isFollowed = !commands.some((command) => wanders(command, functions.length > 0));
  return { where, isLost, isFollowed };
}

/** Builtins that change the shell's folder, or may run what does. */
const WANDERERS = /^(?:pushd|popd|eval|source|\.|trap|builtin|command|alias|shopt)$/;

/** Only a plain `cd` is tracked: a loop may repeat it, and a function may be called from anywhere. */
function wanders({ words, scopes }: SimpleCommand, hasFunctions: boolean): boolean {
  const name = words[0]?.literal ?? '';
  if (name !== 'cd') return WANDERERS.test(name);
  const isPlain = words.length === 2 && words[1]?.literal !== undefined && !/^[-+]/.test(words[1].literal);
  return !isPlain || hasFunctions || scopes.some(({ kind }) => kind === 'loop');
}

/** Whether a command certainly runs in one folder of the workspace, and that folder is where it seems to be. */
export function runsOnlyIn(
  directory: string | undefined,
  { directories, workspace, isFollowed }: Pick<CommandContext, 'directories' | 'workspace' | 'isFollowed'>,
): boolean {
  if (directory === undefined) return true;
  const meant = join(workspace, directory);
  return isFollowed && directories.every((path) => path === meant && attempt(() => realPath(path)) === meant);
}

interface Level {
  readonly scope: Scope | undefined;
  directories: readonly string[];
}

/** The folders that commands may run in, while a line is read from start to end. */
class Directories {
  readonly #levels: Level[];

  constructor(start: string) {
    this.#levels = [{ scope: undefined, directories: [start] }];
  }

  /** The folders that a command in these scopes may run in. */
  enter(scopes: readonly Scope[]): readonly string[] {
    let shared = 0;
    while (shared < scopes.length && this.#levels[shared + 1]?.scope?.id === scopes[shared]?.id) shared++;
    while (this.#levels.length - 1 > shared) this.#leave();
    for (const scope of scopes.slice(shared))
      this.#levels.push({ scope, directories: this.#top.directories });
    return this.#top.directories;
  }

  change(directories: readonly string[]): void {
    this.#top.directories = directories;
  }

  get #top(): Level {
    return this.#levels.at(-1) as Level;
  }

  /** A fork's changes end with it; those of a branch or a loop may have happened. */
  #leave(): void {
    const left = this.#levels.pop() as Level;
    if (left.scope?.kind === 'fork') return;
    const { directories } = this.#top;
    this.#top.directories = [...new Set([...directories, ...left.directories])];
  }
}

/** The folders that the commands after one may run in. */
function directoriesAfter(
  { words, isCondition }: SimpleCommand,
  directories: readonly string[],
): readonly string[] {
  const target = words[0]?.literal === 'cd' ? words.at(-1)?.literal : undefined;
  if (target === undefined) return directories;
  const targets = directories.map((base) => resolve(base, target));
  // Only the `cd` in `cd x && …` has certainly happened.
  const sure = isCondition && targets.every(isDirectory);
  return [...new Set(sure ? targets : [...directories, ...targets])];
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
