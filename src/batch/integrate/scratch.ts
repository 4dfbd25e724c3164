import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { GitFolder } from '../../lib/git.js';
import type { Git } from '../workspaces/git.js';

/** A folder with our own indexes and objects. Trying and merging here leaves nothing in the repository. */
export class Scratch {
  readonly #root: string;
  readonly #repository: GitFolder;
  readonly #git: Git;

  /** In the folder of the batch, where only one process works: what a killed one has left is removed. */
  constructor(folder: string, repository: GitFolder, git: Git) {
    this.#root = join(folder, 'integrating');
    this.#repository = repository;
    this.#git = git;
    this.close();
    mkdirSync(join(this.#root, 'objects'), { recursive: true, mode: 0o700 });
  }

  /** The top of the working tree. */
  get top(): string {
    return this.#repository.top;
  }

  /** Runs git at the top of the tree, with one of our indexes. `more` is added to its environment. */
  git(
    index: string,
    args: readonly string[],
    input?: string,
    more: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const environment = { ...this.#environment(), GIT_INDEX_FILE: this.path(index), ...more };
    return this.#git(args, this.top, environment, undefined, input);
  }

  /** Runs git in the scratch folder itself, for commands that write to the current folder. */
  gitHere(args: readonly string[]): Promise<string> {
    return this.#git(args, this.#root, { ...this.#environment(), GIT_DIR: this.#repository.git });
  }

  path(name: string): string {
    return join(this.#root, name);
  }

  copy(from: string, to: string): void {
    cpSync(this.path(from), this.path(to));
  }

  remove(name: string): void {
    rmSync(this.path(name), { recursive: true, force: true });
  }

  close(): void {
    rmSync(this.#root, { recursive: true, force: true });
  }

  #environment(): Record<string, string> {
    return {
      GIT_OBJECT_DIRECTORY: this.path('objects'),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: quotedPath(join(this.#repository.common, 'objects')),
    };
  }
}

/** Quoted for git's lists of paths, where a colon would end it. */
function quotedPath(path: string): string {
  return `"${path.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}
