import type { Scope } from './model.js';

interface Level {
  readonly scope: Scope | undefined;
  directories: readonly string[];
}

/** Where commands may be running, while a line is gone through from its start to its end. */
export class Directories {
  readonly #levels: Level[];

  constructor(start: string) {
    this.#levels = [{ scope: undefined, directories: [start] }];
  }

  /** Where a command in these scopes may be running. */
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

  /** A fork's changes are gone with it; those of a branch or a loop may have happened. */
  #leave(): void {
    const left = this.#levels.pop() as Level;
    if (left.scope?.kind === 'fork') return;
    const { directories } = this.#top;
    this.#top.directories = [...new Set([...directories, ...left.directories])];
  }
}
