import { resolve } from 'node:path';
import { isInside, pathFrom } from '../../lib/real-path.js';
import { isFile } from '../../lib/regular-file.js';
import { INTERPRETERS } from '../lint.js';
import type { Pattern } from '../shell/alias-table.js';
import { isKnownProgram } from '../shell/programs.js';
import { goesByFiles, runsProject } from './script-changes.js';

/** A file that a program was given which may do anything with it. */
export interface GivenFile {
  readonly by: string;
  /** Relative to the workspace. */
  readonly file: string;
}

/** The files among the words of a program of which nothing is known: `objcopy a b`, `gpg -o x.js`. */
export function filesGiven([by = '', ...rest]: Pattern, directory: string, workspace: string): GivenFile[] {
  const isKnown = INTERPRETERS.has(by) || isKnownProgram(by) || !goesByFiles([by, ...rest]);
  if (isKnown || (runsProject([by]) && !by.includes('/'))) return [];
  // Also the values of options: `--output=x.js`, `-ox.js`.
  const names = new Set(rest.flatMap((word) => [word, word.replace(/^(-[a-zA-Z]|[^=]*=)/, '')]));
  return [...names]
    .map((name) => resolve(workspace, directory, name))
    .filter((path) => isInside(workspace, path) && isFile(path))
    .map((path) => ({ by, file: pathFrom(workspace, path) }));
}
