import { isAbsolute, join, normalize } from 'node:path';
import type { ShellScript } from './model.js';
import { operandsOf } from './operands.js';

/** Resolves a path in a folder without looking at the disk. */
export function placeOf(directory: string, path: string): string {
  return isAbsolute(path) ? normalize(path) : normalize(join(directory, path));
}

/** Files that the commands of a line write, as far as their words show: by redirection, or as operands. */
export function writtenBy(script: ShellScript, directory: string): string[] {
  let where = directory;
  return script.commands.flatMap((command) => {
    const targets = command.redirects.flatMap(({ access, target }) =>
      access === 'write' && target.literal !== undefined ? [target.literal] : [],
    );
    const operands = operandsOf(command.words).flatMap(({ access, path }) =>
      access === 'write' ? [path] : [],
    );
    if (command.words[0]?.literal === 'cd') where = placeOf(where, command.words.at(-1)?.literal ?? '.');
    return [...targets, ...operands].map((path) => placeOf(where, path));
  });
}
