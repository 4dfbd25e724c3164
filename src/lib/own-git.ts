import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { attempt } from './attempt.js';
import { findSystemProgram, isProgram, SYSTEM_FOLDERS } from './find-program.js';
import { isInside, realPath } from './real-path.js';

/** The git that Bosun runs itself, outside of any sandbox. */
export interface OwnGit {
  readonly file: string;
  /** The `PATH` that it gets. */
  readonly path: string;
}

export interface GitSearch {
  /** `PATH`. */
  readonly searchPath: string | undefined;
  /** Real paths that commands of the run can write below. */
  readonly writable: readonly string[];
}

/**
 * Whether there is git the search path says, but not which one is run: a command could put a program of its own into a
 * folder that is listed. It is that of the system, or else the first that nobody in the run can write.
 */
export function findOwnGit({ searchPath = '', writable }: GitSearch): OwnGit | undefined {
  const folders = searchPath.split(delimiter).filter(isAbsolute);
  const found = folders.map((folder) => join(folder, 'git')).filter(isProgram);
  if (found.length === 0) return undefined;
  const file = findSystemProgram('git') ?? firstOutside(writable, found);
  if (file === undefined) return undefined;
  return { file, path: [...new Set([...SYSTEM_FOLDERS, dirname(file)])].join(delimiter) };
}

/** The first file that does not lie in any of these folders, by a path that no link in them can turn elsewhere. */
export function firstOutside(folders: readonly string[], files: readonly string[]): string | undefined {
  return files
    .flatMap((file) => attempt(() => realPath(file)) ?? [])
    .find((real) => !folders.some((folder) => isInside(folder, real)));
}
