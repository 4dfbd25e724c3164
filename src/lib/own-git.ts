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
 * The search path says whether there is git, but not which one is run: a command could put its own program into a
 * folder on it. It is the system's git, or else the first that nothing in the run can write.
 */
export function findOwnGit({ searchPath = '', writable }: GitSearch): OwnGit | undefined {
  const folders = searchPath.split(delimiter).filter(isAbsolute);
  const found = folders.map((folder) => join(folder, 'git')).filter(isProgram);
  if (found.length === 0) return undefined;
  const file = findSystemProgram('git') ?? firstOutside(writable, found);
  if (file === undefined) return undefined;
  return { file, path: [...new Set([...SYSTEM_FOLDERS, dirname(file)])].join(delimiter) };
}

/** The first file outside of these folders, by a path that no link in them can redirect. */
export function firstOutside(folders: readonly string[], files: readonly string[]): string | undefined {
  return files
    .flatMap((file) => attempt(() => realPath(file)) ?? [])
    .find((real) => !folders.some((folder) => isInside(folder, real)));
}
