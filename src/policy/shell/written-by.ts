import { isAbsolute, join, normalize } from 'node:path';
import { MAX_DEPTH } from './context.js';
import type { ShellScript, SimpleCommand } from './model.js';
import { operandsOf } from './operands.js';
import { readScript } from './read.js';
import type { InnerCommand } from './unwrapped.js';
import { unwrap } from './wrappers.js';

/** A command of a line, or one that such a command starts, and the folder it runs in by the words before it. */
export interface StartedCommand {
  readonly command: SimpleCommand;
  readonly directory: string;
}

/** Resolves a path in a folder without looking at the disk. */
export function placeOf(directory: string, path: string): string {
  return isAbsolute(path) ? normalize(path) : normalize(join(directory, path));
}

/** The commands of a line, and those that wrappers among them start, as far as these can be read. */
export function startedCommands(
  { commands }: Pick<ShellScript, 'commands'>,
  directory: string,
  depth = 0,
): StartedCommand[] {
  let where = directory;
  return commands.flatMap((command) => {
    if (command.words[0]?.literal === 'cd') where = placeOf(where, command.words.at(-1)?.literal ?? '.');
    return [{ command, directory: where }, ...startedBy(command, where, depth)];
  });
}

function startedBy(command: SimpleCommand, directory: string, depth: number): StartedCommand[] {
  if (depth > MAX_DEPTH) return [];
  const inside = (inner: InnerCommand): StartedCommand[] => {
    if (inner.type === 'words')
      return startedCommands(
        { commands: [{ ...command, words: inner.words, redirects: [] }] },
        directory,
        depth + 1,
      );
    const reading = inner.type === 'script' && readScript(inner.source, true, inner.dialect);
    return reading && reading.ok ? startedCommands(reading.script, directory, depth + 1) : [];
  };
  return unwrap(command.words)?.inner.flatMap(inside) ?? [];
}

/** Files that a command writes, as far as its words show: by redirection, or as operands. */
export function writtenBy({ command, directory }: StartedCommand): string[] {
  const targets = command.redirects.flatMap(({ access, target }) =>
    access === 'write' && target.literal !== undefined ? [target.literal] : [],
  );
  const operands = operandsOf(command.words).flatMap(({ access, path }) =>
    access === 'write' ? [path] : [],
  );
  return [...targets, ...operands].map((path) => placeOf(directory, path));
}
