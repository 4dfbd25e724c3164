import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { makeFolders } from '../../lib/folders.js';
import { gitFolder } from '../../lib/git.js';
import { isInside } from '../../lib/real-path.js';
import type { Baseline, NetChange } from '../../protocol/success.js';
import { lostBaseline, type Changes, type ChangedFiles, type Patch, type SeenChange } from './seen.js';
import { TouchedFiles, type TouchedFile } from './touched-files.js';

export interface NetSettings {
  readonly workspace: string;
  /** The run's own folder for the former state. */
  readonly store: string;
  /** What everything is compared with, if that had to be known before the run began. */
  readonly whole: Changes | undefined;
  /** Remembers the current state of all files, or opens a remembered one. */
  readonly remember: (
    before: { readonly baseline: Baseline } | undefined,
    signal: AbortSignal,
  ) => Promise<Changes>;
  /** An earlier part of the run may have changed something. */
  readonly hasPast: boolean;
}

/** When the first program of the run was started, and what was there then. */
interface Started {
  readonly at: number;
  readonly baseline: Baseline;
}

export interface NetLook {
  readonly changes: readonly NetChange[];
  readonly patch?: Patch;
}

/**
 * What a run has changed in the end, and who did it. Tools say which files they write, so it is enough to remember their
 * former state; a program can write anything, so all files are remembered before the first one starts.
 */
export class NetChanges {
  readonly #settings: NetSettings;
  readonly #touched: TouchedFiles;
  #started: Started | undefined;
  #all: Promise<Changes> | undefined;

  constructor(settings: NetSettings) {
    const { workspace, store, whole, hasPast } = settings;
    this.#settings = settings;
    this.#started = recallStart(this.#file);
    if (hasPast && !this.#started && !TouchedFiles.isKnown(store)) {
      if (!whole) throw lostBaseline(store);
      this.#started = { at: 0, baseline: whole.baseline };
    }
    this.#touched = new TouchedFiles(workspace, store);
    this.#all = whole && Promise.resolve(whole);
  }

  beforeTool(paths: readonly string[]): void {
    for (const path of paths) this.#touched.before(path, this.#started?.at);
  }

  afterTool(paths: readonly string[]): void {
    for (const path of paths) this.#touched.after(path);
  }

  async beforeProgram(signal: AbortSignal): Promise<void> {
    if (this.#started) return;
    const { baseline } = await this.#before(signal);
    this.#started ??= { at: Date.now(), baseline };
    makeFolders(this.#settings.store, 0o700);
    writeFileSync(`${this.#file}.new`, JSON.stringify(this.#started), { mode: 0o600 });
    renameSync(`${this.#file}.new`, this.#file);
  }

  /** What has changed, for comparing two moments. */
  async files(signal: AbortSignal): Promise<ChangedFiles> {
    const seen = await (await this.#before(signal)).files(signal, this.#only());
    const others = [...this.#touched.all].filter(
      (file) => !this.#isCovered(file) && this.#touched.change(file) !== undefined,
    );
    return new Map([...seen, ...others.map(({ path, left }) => [path, left] as const)]);
  }

  async hasNewCommit(signal: AbortSignal): Promise<boolean> {
    return (await this.#before(signal)).hasNewCommit(signal);
  }

  async look(signal: AbortSignal, { patch }: { readonly patch: boolean }): Promise<NetLook> {
    if (!this.#started && !this.#settings.whole) return { changes: this.#byTools(this.#touched.all) };
    const look = await (await this.#before(signal)).look(signal, { only: this.#only(), patch });
    const seen = look.changes.flatMap((change) => this.#told(change));
    const known = new Set(look.changes.flatMap(({ path, from = path }) => [path, from]));
    const others = [...this.#touched.all].filter((file) => !known.has(file.path) && !this.#isCovered(file));
    const changes = [...seen, ...this.#byTools(others)].toSorted((a, b) => (a.path < b.path ? -1 : 1));
    return { changes, ...(look.patch && { patch: look.patch }) };
  }

  /** If no program was started, the run can have changed nothing else. */
  #only(): ReadonlySet<string> | undefined {
    return this.#started ? undefined : new Set(this.#written().map(({ path }) => path));
  }

  #written(): TouchedFile[] {
    return [...this.#touched.all].filter(({ wrote, begun }) => wrote || begun);
  }

  async #before(signal: AbortSignal): Promise<Changes> {
    const { remember } = this.#settings;
    this.#all ??= remember(this.#started && { baseline: this.#started.baseline }, signal);
    try {
      return await this.#all;
    } catch (error) {
      this.#all = undefined;
      throw error;
    }
  }

  #byTools(files: Iterable<TouchedFile>): NetChange[] {
    return [...files].flatMap((file) => {
      const change = file.ignored ? undefined : this.#touched.change(file);
      const by = this.#by(file);
      return change && by ? [{ ...change, by }] : [];
    });
  }

  /** A change as the run's own: files that tools wrote before are compared with their state at that time. */
  #told(change: SeenChange): NetChange[] {
    const { path, from } = change;
    const file = this.#touched.get(path);
    const origin = from === undefined ? undefined : this.#touched.get(from);
    if (origin && this.#isEarly(origin)) {
      const moved = this.#touched.change(origin, path);
      return moved ? [{ ...moved, by: origin.wrote ? 'both' : 'command' }] : [];
    }
    if (file && this.#isEarly(file)) {
      const gone = from === undefined ? [] : [{ path: from, kind: 'deleted', by: 'command' } as const];
      return [...this.#byTools([file]), ...gone];
    }
    const by = (file && this.#by(file)) ?? (origin?.wrote ? 'both' : 'command');
    return [{ ...change, by }];
  }

  /** Undefined if it was not the run. */
  #by(file: TouchedFile): NetChange['by'] | undefined {
    if (this.#started) return this.#touched.by(file);
    return file.wrote || file.begun ? 'tool' : undefined;
  }

  /** The state before a tool wrote the file is not in what everything is compared with. */
  #isEarly({ early }: TouchedFile): boolean {
    return early && !this.#settings.whole;
  }

  /** Whether it would have been seen. */
  #isCovered(file: TouchedFile): boolean {
    if (file.ignored) return true;
    if (this.#isEarly(file)) return false;
    const { workspace } = this.#settings;
    const top = gitFolder(workspace)?.top;
    const real = join(workspace, file.path);
    return isInside(top ?? workspace, real) && (top === undefined || gitFolder(real)?.top === top);
  }

  get #file(): string {
    return join(this.#settings.store, 'started.json');
  }
}

function recallStart(file: string): Started | undefined {
  return attempt(() => JSON.parse(readFileSync(file, 'utf8')) as Started);
}
