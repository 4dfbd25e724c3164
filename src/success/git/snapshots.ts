import { utf8Of } from '../../lib/encoding.js';
import { basename, join } from 'node:path';
import { gitFolder, type GitFolder } from '../../lib/git.js';
import { LISTED, listedChanges, type GitChange } from './changes.js';
import { ignoredBefore, type IgnoredBefore } from './ignored.js';
import { isReadable, isStored, pathList, rawEntries, splitNul, statsIn, type RawEntry } from './paths.js';
import { openStore, type GitStore } from './store.js';
import { sha256 } from '../../lib/ids.js';
import type { OwnGit } from '../../lib/own-git.js';
import { isInside } from '../../lib/real-path.js';
import { readRegularFile } from '../../lib/regular-file.js';

/** The tree of every repository in a working tree: the top's under '', those of submodules under their paths. */
export type Trees = Readonly<Record<string, string>>;

export interface SnapshotSettings {
  readonly repository: GitFolder;
  /** A folder for what git must remember between snapshots. */
  readonly store: string;
  /** Real paths that do not count, with everything in them. */
  readonly except: readonly string[];
  readonly git: OwnGit;
}

/** One changed path. */
export interface ChangedPath {
  /** From the top, with `/`. */
  readonly path: string;
  /** The mode that it had. */
  readonly was: string;
  /** Mode and object that it has now. */
  readonly now: string;
}

export interface GitPatch {
  readonly bytes: Buffer;
  readonly changed: readonly ChangedPath[];
  /** The changes as the patch has them: a renamed file is one. */
  readonly changes: readonly GitChange[];
}

interface Listed {
  readonly changed: readonly ChangedPath[];
  readonly changes: readonly GitChange[];
  /** How they were detected. */
  readonly renames: readonly string[];
}

interface OpenRepository {
  readonly store: GitStore;
  /** What was ignored at first: if its rule is removed, it is not new. */
  readonly ignored: IgnoredBefore;
  /** Paths of submodules that are checked out. */
  readonly submodules: readonly string[];
  /** That of the index, once it has been written. */
  tree?: string | undefined;
}

/** Sees the files of a working tree as git does: tracked or not, but not ignored. Changes nothing in it. */
export class GitSnapshots {
  readonly #settings: SnapshotSettings;
  readonly #stores = new Map<string, Promise<OpenRepository>>();
  /** In the last snapshot: nested repositories that are not submodules. They are not looked into. */
  readonly nested = new Set<string>();
  /** And what we may not read: it counts as unchanged. */
  readonly unreadable = new Set<string>();

  constructor(settings: SnapshotSettings) {
    this.#settings = settings;
  }

  /** All files as they are now; if `only` is given, all others as they were last time. */
  async take(signal: AbortSignal, only?: ReadonlySet<string>): Promise<Trees> {
    this.nested.clear();
    this.unreadable.clear();
    const trees: Record<string, string> = {};
    const open = [''];
    for (let prefix = open.pop(); prefix !== undefined; prefix = open.pop()) {
      const opened = await this.#open(prefix, signal);
      if (!opened) continue;
      trees[prefix] = await this.#takeTree(opened, prefix, signal, only);
      const below = prefix === '' ? '' : `${prefix}/`;
      open.push(...opened.submodules.map((path) => below + path));
    }
    return trees;
  }

  /** Whether all objects of an earlier snapshot are here. */
  async has(trees: Trees, signal: AbortSignal): Promise<boolean> {
    try {
      for (const [prefix, tree] of Object.entries(trees))
        await (await this.#open(prefix, signal))?.store.run(['cat-file', '-e', tree], signal);
      return true;
    } catch (error) {
      if (signal.aborted) throw error;
      return false;
    }
  }

  /** What has changed. A renamed file is gone in one place and new in another. */
  async changed(before: Trees, after: Trees, signal: AbortSignal): Promise<ChangedPath[]> {
    const each = await this.#compare(before, after, RAW, signal);
    return each.flatMap(({ prefix, output }) => changedPaths(prefix, rawEntries(output.toString('latin1'))));
  }

  /** The changes as a patch for `git apply`. */
  async patch(before: Trees, after: Trees, signal: AbortSignal): Promise<GitPatch> {
    const { changed, changes, renames } = await this.#list(before, after, signal);
    const each = await this.#compare(before, after, [...PATCH, ...renames], signal);
    return { changed, changes, bytes: Buffer.concat(each.map(({ output }) => output)) };
  }

  /** What a patch would say of each path. */
  async changes(before: Trees, after: Trees, signal: AbortSignal): Promise<readonly GitChange[]> {
    return (await this.#list(before, after, signal)).changes;
  }

  async #list(before: Trees, after: Trees, signal: AbortSignal, renames = RENAMES): Promise<Listed> {
    const each = await this.#compare(before, after, [...LISTED, ...renames], signal);
    const within = (prefix: string, path: string) => (prefix === '' ? path : `${utf8Of(prefix)}/${path}`);
    const listed = each.map(({ prefix, output }) => ({
      prefix,
      ...listedChanges(output.toString('latin1')),
    }));
    const changed = listed.flatMap(({ prefix, raw }) => changedPaths(prefix, raw));
    const changes = listed.flatMap(({ prefix, changes: own }) =>
      own.map((change) => ({
        ...change,
        path: within(prefix, change.path),
        ...(change.from !== undefined && { from: within(prefix, change.from) }),
      })),
    );
    // `git apply` does not know that a renamed link makes room for a folder.
    const isLinkGone = changes.some(({ was, kind }) => was === LINK && LEAVING.includes(kind));
    return isLinkGone && renames === RENAMES
      ? this.#list(before, after, signal, NO_RENAMES)
      : { changed, changes, renames };
  }

  /** Whether two commits contain the same files. Without a commit there are none. */
  async isSameTree(one: string | null, other: string | null, signal: AbortSignal): Promise<boolean> {
    const opened = await this.#open('', signal);
    const listEntries = async (commit: string | null) =>
      commit === null ? '' : (await opened?.store.run(['ls-tree', '-z', commit], signal))?.toString('latin1');
    return (await listEntries(one)) === (await listEntries(other));
  }

  async #compare(before: Trees, after: Trees, args: readonly string[], signal: AbortSignal) {
    const outputs: { prefix: string; output: Buffer }[] = [];
    for (const [prefix, from] of Object.entries(before)) {
      const to = after[prefix];
      const opened = to === undefined || to === from ? undefined : await this.#open(prefix, signal);
      if (!opened) continue;
      const below = utf8Of(prefix === '' ? '' : `${prefix}/`);
      const places = [`--src-prefix=a/${below}`, `--dst-prefix=b/${below}`];
      const output = await opened.store.run(['diff-tree', ...args, ...places, from, to as string], signal);
      outputs.push({ prefix, output });
    }
    return outputs;
  }

  /** Undefined if there is no repository any more. */
  #open(prefix: string, signal: AbortSignal): Promise<OpenRepository | undefined> {
    const { repository: top, store, git } = this.#settings;
    const folder = join(top.top, utf8Of(prefix));
    const repository = prefix === '' ? top : gitFolder(folder);
    if (repository?.top !== folder) return Promise.resolve(undefined);
    const known = this.#stores.get(prefix);
    if (known) return known;
    const path = join(store, prefix === '' ? 'top' : `sub-${sha256(prefix).slice(0, 16)}`);
    const opened = openFresh({ repository, path, git }, signal);
    this.#stores.set(prefix, opened);
    return opened;
  }

  async #takeTree(
    opened: OpenRepository,
    prefix: string,
    signal: AbortSignal,
    only: ReadonlySet<string> | undefined,
  ): Promise<string> {
    const { store, ignored } = opened;
    const { top } = store.repository;
    const shown = (path: string) => utf8Of(join(prefix, path));
    const isLeft = (path: string) =>
      this.#isExcepted(top, path) || (only !== undefined && !only.has(shown(path)));
    // To see whether a submodule is dirty, git would run itself inside it.
    const [touched, others] = await Promise.all([
      store.run(['diff-files', '--raw', '-z', '--no-renames', '--ignore-submodules=dirty'], signal),
      store.run(['ls-files', '-z', '-o', '--exclude-standard'], signal, '', (warnings) => {
        for (const [, folder = ''] of warnings.matchAll(CLOSED))
          this.unreadable.add(join(utf8Of(prefix), folder));
      }),
    ]);
    const gone: string[] = [];
    const present: string[] = [];
    for (const { path, status } of rawEntries(touched.toString('latin1'))) {
      if (isLeft(path)) continue;
      // A path behind a link is gone, though its name leads to something.
      if (status === 'D' || !isStored(statsIn(top, path))) gone.push(path);
      else present.push(path);
    }
    for (const path of splitNul(others)) {
      if (isLeft(path) || ignored.has(path)) continue;
      if (path.endsWith('/')) this.nested.add(shown(path.slice(0, -1)));
      else present.push(path);
    }
    const readable = present.filter((path) => isReadable(top, path) || !this.unreadable.add(shown(path)));
    if (gone.length + readable.length > 0) opened.tree = undefined;
    if (gone.length > 0) await store.run(REMOVE, signal, pathList(gone));
    if (readable.length > 0) await store.run(ADD, signal, pathList(readable));
    // A partial clone does not have all objects, and does not need them.
    opened.tree ??= (await store.run(['write-tree', '--missing-ok'], signal)).toString('latin1').trim();
    return opened.tree;
  }

  #isExcepted(top: string, path: string): boolean {
    const whole = join(top, utf8Of(path));
    return this.#settings.except.some((own) => isInside(own, whole));
  }
}

function changedPaths(prefix: string, entries: readonly RawEntry[]): ChangedPath[] {
  return entries.map(({ path, was, mode, object }) => ({
    path: utf8Of(prefix === '' ? path : `${prefix}/${path}`),
    was,
    now: `${mode} ${object}`,
  }));
}

/** Git's modes for what is not a file. */
const LINK = '120000';
const SUBMODULE = '160000';

/** Git's warning about a folder that it skips. */
const CLOSED = /^warning: could not open directory '(.+)\/': /gm;

const RENAMES = ['-M', '-l1000'];
const NO_RENAMES = ['--no-renames'];
/** Leaves nothing in the old place. */
const LEAVING: readonly GitChange['kind'][] = ['deleted', 'renamed'];

const RAW = ['-r', '--raw', '-z', '--no-renames', '--no-abbrev'];
const PATCH = [
  ...['-r', '-p', '--binary', '--full-index', '--submodule=short'],
  ...['--no-ext-diff', '--no-textconv', '--no-color'],
];
const REMOVE = ['update-index', '-z', '--force-remove', '--stdin'];
const ADD = ['update-index', '-z', '--add', '--remove', '--replace', '--stdin'];

async function openFresh(
  settings: Parameters<typeof openStore>[0],
  signal: AbortSignal,
): Promise<OpenRepository> {
  const store = await openStore(settings, signal);
  const [ignored, listed] = await Promise.all([
    ignoredBefore(store, join(settings.path, 'ignored'), signal),
    store.run(['ls-files', '-z', '-s'], signal),
  ]);
  const entries = splitNul(listed);
  const pathOf = (entry: string) => entry.slice(entry.indexOf('\t') + 1);
  await unfilter(store, entries.map(pathOf), signal);
  const links = entries.filter((entry) => entry.startsWith(`${SUBMODULE} `)).map(pathOf);
  const { top } = store.repository;
  return { store, ignored, submodules: links.filter((path) => statsIn(top, `${path}/.git`) !== undefined) };
}

/**
 * Files behind a filter (Git LFS) differ on disk from the repository, and converting one into the other would run a
 * program of the repository's choice. So they are compared as they are on disk, from the first snapshot on.
 */
async function unfilter(store: GitStore, paths: readonly string[], signal: AbortSignal): Promise<void> {
  const { top, common } = store.repository;
  const rules = paths
    .filter((path) => basename(path) === '.gitattributes')
    .map((path) => join(top, utf8Of(path)));
  if (![...rules, join(common, 'info/attributes')].some(speaksOfFilters)) return;
  const facts = splitNul(await store.run(['check-attr', '-z', '--stdin', 'filter'], signal, pathList(paths)));
  const filtered = paths.filter((path, i) => {
    const value = facts[i * 3 + 2];
    return value !== 'unspecified' && value !== 'unset' && statsIn(top, path)?.isFile();
  });
  if (filtered.length === 0) return;
  await store.run(REMOVE, signal, pathList(filtered));
  await store.run(ADD, signal, pathList(filtered));
}

function speaksOfFilters(file: string): boolean {
  try {
    return readRegularFile(file, 1024 * 1024).bytes.includes('filter');
  } catch {
    return false;
  }
}
