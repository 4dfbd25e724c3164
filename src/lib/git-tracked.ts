import { dirname, join } from 'node:path';
import { gitFolder, repositoryAt, type GitFolder } from './git.js';
import { indexStamp, readIndex, type GitIndex } from './git-index.js';
import { isInside, pathFrom } from './real-path.js';
import { entriesIn } from './folders.js';

export interface TrackedRepository {
  readonly top: string;
  /** Undefined if it cannot be read: then any file could be part of it. */
  readonly index: GitIndex | undefined;
  /** Changes whenever the index does. */
  readonly stamp: string;
}

/** Submodules may contain submodules, but not without end. */
const MAX_DEPTH = 8;
/** How deep to look for repositories below a folder that is not in one. */
const LOOK_DOWN = 2;

/**
 * Files that are part of a repository, by its index and nothing else. Ignore files do not count, as git does not heed
 * them for tracked files either, and a pull request could hide its changes that way.
 */
export class TrackedFiles {
  readonly #repositories = new Map<string, TrackedRepository>();

  /** Uses the repositories around and below a folder. */
  constructor(folder: string) {
    const around = gitFolder(folder);
    if (around) this.#add(around, 0);
    else for (const below of repositoriesBelow(folder, LOOK_DOWN)) this.#add(below, 0);
  }

  get repositories(): readonly TrackedRepository[] {
    return [...this.#repositories.values()];
  }

  /** Whether a real path, or something below it, is tracked. */
  has(path: string): boolean {
    for (let top = dirname(path); ; top = dirname(top)) {
      const repository = this.#repositories.get(top);
      if (repository) return repository.index?.has(pathFrom(top, path)) ?? true;
      if (dirname(top) === top) return [...this.#repositories.keys()].some((below) => isInside(path, below));
    }
  }

  #add(repository: GitFolder, depth: number): void {
    const { top } = repository;
    const { index, stamp } = indexIn(repository);
    this.#repositories.set(top, { top, index, stamp });
    if (depth >= MAX_DEPTH) return;
    for (const link of index?.links ?? []) {
      const below = repositoryAt(join(top, link));
      if (below) this.#add(below, depth + 1);
    }
  }
}

function repositoriesBelow(folder: string, depth: number): GitFolder[] {
  const own = repositoryAt(folder);
  if (own || depth === 0) return own ? [own] : [];
  const entries = entriesIn(folder);
  return entries
    .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules')
    .flatMap((entry) => repositoriesBelow(join(folder, entry.name), depth - 1));
}

/** The indexes read last: most calls find them unchanged. */
const read = new Map<string, { readonly stamp: string; readonly index: GitIndex | undefined }>();
const MAX_KEPT = 20;

function indexIn(repository: GitFolder): { readonly stamp: string; readonly index: GitIndex | undefined } {
  const stamp = indexStamp(repository);
  const known = read.get(repository.git);
  if (known?.stamp === stamp) return known;
  const fresh = { stamp, index: readIndex(repository) };
  read.delete(repository.git);
  read.set(repository.git, fresh);
  for (const oldest of [...read.keys()].slice(0, -MAX_KEPT)) read.delete(oldest);
  return fresh;
}
