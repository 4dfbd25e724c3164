import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { errorMessage } from '../../lib/errors.js';
import { isInside, realPath } from '../../lib/real-path.js';
import { removeTree } from '../../lib/remove-tree.js';
import { Problem } from '../../protocol/problem.js';
import { cleanClone, makeClone, type ClonePlace } from './clone.js';
import type { Git } from './git.js';
import type { CloneSource } from './source.js';

/** A workspace that only one attempt of a task uses. */
export interface TakenWorkspace {
  /** Where the run works. */
  readonly path: string;
  /** Relative to the folder of the batch. */
  readonly name: string;
}

export interface Owner {
  readonly id: string;
  readonly attempt: number;
}

interface Label extends Owner {
  readonly source: string;
  readonly commit: string;
  /** Setup is done. */
  readonly ready: boolean;
}

export interface PoolSettings {
  /** The folder of the batch. */
  readonly folder: string;
  readonly sparse: readonly string[];
  readonly git: Git;
  /** Makes a clean clone ready for work, if there is anything to do. */
  readonly setUp: (workspace: string, output: string, signal: AbortSignal) => Promise<void>;
  /** Gets what could not be removed. */
  readonly onWarning?: (message: string) => void;
}

/** Clones for tasks: created one after the other, reused, and kept as long as a task may continue in them. */
export class WorkspacePool {
  readonly #settings: PoolSettings;
  readonly #root: string;
  /** Those that no task uses. */
  readonly #free: { readonly name: string; readonly source: string; readonly commit: string }[] = [];
  /** Those that a task uses now. */
  readonly #taken = new Set<string>();
  #last = 0;
  #queue: Promise<unknown> = Promise.resolve();

  /** `isKept` says whether an attempt, found in the folder, may still continue. */
  constructor(settings: PoolSettings, isKept: (owner: Owner) => boolean) {
    this.#settings = settings;
    this.#root = join(settings.folder, 'workspaces');
    for (const name of this.#names()) {
      this.#last = Math.max(this.#last, Number(name));
      const label = existsSync(this.#placeOf(name).path) ? this.#labelOf(name) : undefined;
      if (label && !isKept(label)) this.#free.push({ name, source: label.source, commit: label.commit });
      else if (!label) this.#remove(name);
    }
  }

  /** The workspace of an interrupted attempt, if all of it is still there. */
  find({ id, attempt: number }: Owner, workspace: string, source: CloneSource): TakenWorkspace | undefined {
    const name = basename(workspace);
    const label = this.#labelOf(name);
    const isOwn = label?.id === id && label.attempt === number && label.ready && !this.#taken.has(name);
    if (!isOwn || label.commit !== source.commit || !existsSync(this.#placeOf(name).path)) return undefined;
    const at = this.#free.findIndex((one) => one.name === name);
    if (at >= 0) this.#free.splice(at, 1);
    return this.#give(name, source);
  }

  /** A clean clone for an attempt. Throws a Problem if there can be none: there is no other place to work. */
  take(owner: Owner, source: CloneSource, signal: AbortSignal): Promise<TakenWorkspace> {
    const made = this.#queue.then(() => this.#make(owner, source, signal));
    this.#queue = made.catch(() => {});
    return made;
  }

  /** Makes it ready for work. Throws a Problem if that fails. */
  async prepare(
    owner: Owner,
    { path, name }: TakenWorkspace,
    source: CloneSource,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#settings.setUp(path, join(this.#settings.folder, `${name}.setup`), signal);
    this.#label(basename(name), { ...owner, source: source.path, commit: source.commit, ready: true });
  }

  /** Another task may have it now. */
  giveBack({ name }: TakenWorkspace): void {
    const own = basename(name);
    const label = this.#labelOf(own);
    this.#taken.delete(own);
    if (label) this.#free.push({ name: own, source: label.source, commit: label.commit });
  }

  /** Removes all clones but those in which an attempt may still continue. */
  close(isKept: (owner: Owner) => boolean): void {
    for (const name of this.#names()) {
      const label = this.#labelOf(name);
      if (!label || !isKept(label)) this.#remove(name);
    }
    this.#free.length = 0;
    if (attempt(() => readdirSync(this.#root))?.length === 0) attempt(() => removeTree(this.#root));
  }

  /** All clones, complete or not. */
  #names(): string[] {
    const files = attempt(() => readdirSync(this.#root)) ?? [];
    return [...new Set(files.flatMap((file) => /^\d+/.exec(file) ?? []))];
  }

  async #make(owner: Owner, source: CloneSource, signal: AbortSignal): Promise<TakenWorkspace> {
    signal.throwIfAborted();
    const { sparse } = this.#settings;
    const git: Git = (args, directory, more) => this.#settings.git(args, directory, more, signal);
    try {
      mkdirSync(this.#root, { recursive: true, mode: 0o700 });
      const cleaned = await this.#clean(source, git);
      const name = cleaned ?? String(++this.#last);
      const place = this.#placeOf(name);
      if (cleaned === undefined) await makeClone(place, source, sparse, git);
      this.#label(name, { ...owner, source: source.path, commit: source.commit, ready: false });
      const taken = this.#give(name, source);
      // A link in the repository may not lead the run out of its clone.
      if (!isInside(realPath(place.path), realPath(taken.path)) || !existsSync(taken.path))
        throw new Error(`there is no folder ${source.prefix} in it`);
      return taken;
    } catch (error) {
      const message = `no clone of ${source.path} could be made: ${errorMessage(error)}`;
      throw new Problem('tool_infra_error', 'workspace', message, { cause: error });
    }
  }

  /** A used clone, as if it were new. If it cannot be cleaned, it is removed, and its number with it. */
  async #clean(source: CloneSource, git: Git): Promise<string | undefined> {
    const at = this.#free.findIndex((one) => one.source === source.path && one.commit === source.commit);
    const [used] = at < 0 ? [] : this.#free.splice(at, 1);
    if (!used) return undefined;
    try {
      // Without a label, a half-made clone is removed later.
      rmSync(this.#labelFile(used.name), { force: true });
      await cleanClone(this.#placeOf(used.name), source.commit, git);
      return used.name;
    } catch {
      this.#remove(used.name);
      return undefined;
    }
  }

  #give(name: string, source: CloneSource): TakenWorkspace {
    this.#taken.add(name);
    return { path: join(this.#placeOf(name).path, source.prefix), name: `workspaces/${name}` };
  }

  #placeOf(name: string): ClonePlace {
    return { path: join(this.#root, name), pristine: join(this.#root, `${name}.git`) };
  }

  #labelFile(name: string): string {
    return join(this.#root, `${name}.json`);
  }

  #labelOf(name: string): Label | undefined {
    return attempt(() => JSON.parse(readFileSync(this.#labelFile(name), 'utf8')) as Label);
  }

  #label(name: string, label: Label): void {
    writeFileSync(this.#labelFile(name), JSON.stringify(label), { mode: 0o600 });
  }

  /** What cannot be removed stays, and does no harm: its number is not used again. */
  #remove(name: string): void {
    for (const left of attempt(() => readdirSync(this.#root)) ?? []) {
      if (left !== name && !left.startsWith(`${name}.`)) continue;
      const path = join(this.#root, left);
      try {
        removeTree(path);
      } catch (error) {
        this.#settings.onWarning?.(`${path} cannot be removed: ${errorMessage(error)}`);
      }
    }
  }
}
