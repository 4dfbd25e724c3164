import { gitFolder } from '../../lib/git.js';
import type { Problem } from '../../protocol/problem.js';
import type { FileState, JournalLine } from '../journal/event.js';
import { batchProblem } from '../spec.js';
import type { Git } from '../workspaces/git.js';
import { mergePatch, treeOf } from './merge.js';
import { writtenStates } from './notes.js';
import { Scratch } from './scratch.js';
import { NONE, obstacleAt, signatureAt, splitNames, stateOf, takeIn, treeStates } from './tree.js';
import { prepareFiles, writeFiles, type FileChange } from './write.js';

export interface Integration {
  /** The workspace whose repository takes the patches. */
  readonly workspace: string;
  /** The folder of the batch. */
  readonly folder: string;
  readonly git: Git;
  readonly signal: AbortSignal;
  /** An error at the place that asks for it. */
  readonly fault: (message: string, hint: string) => Problem;
}

/** `there`: the tree already had all of it. */
export type Fit =
  { readonly type: 'written' | 'there' } | { readonly type: 'conflict'; readonly why: string };

/**
 * The tree as git would commit it: HEAD and what this batch has applied to it, in our own index. Changes by others
 * are not in it, and are never touched.
 */
export class Stage {
  readonly head: string;
  /** Tracked files that match neither HEAD nor what a patch of this batch has made of them. */
  readonly foreign: readonly string[];
  readonly #scratch: Scratch;
  /** What files are that a patch of this batch has made what they are. */
  readonly #own: Map<string, string>;
  /** The tree of the index, and the index itself: made for the first patch that asks for them. */
  #tree: string | undefined;
  #hasIndex: boolean;

  private constructor(scratch: Scratch, { head, tree }: Committed, looked: Looked | undefined) {
    this.head = head;
    this.foreign = looked?.foreign ?? [];
    this.#scratch = scratch;
    this.#own = new Map(looked?.own);
    this.#hasIndex = looked !== undefined;
    if (this.#own.size === 0) this.#tree = tree;
  }

  static async open({ workspace, folder, git }: Integration, lines: readonly JournalLine[]): Promise<Stage> {
    const repository = gitFolder(workspace);
    if (!repository)
      throw batchProblem(`integrate: apply needs a git repository, but ${workspace} is not in one`);
    const scratch = new Scratch(folder, repository, git);
    try {
      const [head = '', tree = ''] = (await git(['rev-parse', 'HEAD', 'HEAD^{tree}'], scratch.top)).split(
        '\n',
      );
      const changed = await changedFiles(scratch.top, git);
      const looked = await takeOwn(scratch, head, changed, writtenStates(lines));
      return new Stage(scratch, { head, tree }, looked);
    } catch (error) {
      scratch.close();
      throw error;
    }
  }

  /** Whether patches of this batch have left all these files as they are to be. */
  has(files: readonly FileState[]): boolean {
    return files.length > 0 && files.every(({ path, state }) => this.#own.get(path) === state);
  }

  /** Applies a patch to the tree. `onFit` gets the future state of files before anything is written. */
  async apply(patch: string, onFit: (files: readonly FileState[]) => void): Promise<Fit> {
    const scratch = this.#scratch;
    const tree = await this.#indexTree();
    const merged = await mergePatch(scratch, patch, tree, 'index', 'trial');
    if ('conflict' in merged) return { type: 'conflict', why: merged.conflict };
    if (merged.tree === tree) return { type: 'there' };
    const changes = await this.#changesBetween(tree, merged.tree);
    const paths = changes.map(({ path }) => path);
    const signatures = paths.map((path) => signatureAt(scratch.top, path));
    const now = await treeStates(scratch, 'index', paths);
    const open = changes.filter(({ path, after }) => now.get(path) !== after);
    const why = this.#hindrance(open, now);
    if (why !== undefined) return { type: 'conflict', why };
    const filled = open.flatMap(({ path, after }) => (after === NONE ? [] : path));
    await prepareFiles(scratch, 'trial', filled, 'files');
    const late = paths.find((path, at) => signatureAt(scratch.top, path) !== signatures[at]);
    if (late !== undefined) return { type: 'conflict', why: `${late} was changed just now` };
    onFit(changes.map(({ path, after }) => ({ path, state: after })));
    await writeFiles(scratch, open, 'index', 'files');
    scratch.copy('trial', 'index');
    this.#tree = merged.tree;
    for (const { path, after } of changes) this.#own.set(path, after);
    return { type: 'written' };
  }

  close(): void {
    this.#scratch.close();
  }

  async #indexTree(): Promise<string> {
    if (!this.#hasIndex) await readHead(this.#scratch, this.head, 'index');
    this.#hasIndex = true;
    return (this.#tree ??= await treeOf(this.#scratch, 'index'));
  }

  async #changesBetween(from: string, to: string): Promise<FileChange[]> {
    const how = ['-r', '-z', '--no-renames'];
    const listed = splitNames(await this.#scratch.git('trial', ['diff-tree', ...how, from, to]));
    return Array.from({ length: listed.length / 2 }, (_, at) => {
      const [mode = '', future = '', old = '', blob = ''] = (listed[2 * at] ?? '').slice(1).split(' ');
      return { path: listed[2 * at + 1] ?? '', before: stateOf(mode, old), after: stateOf(future, blob) };
    });
  }

  /** Why files cannot be changed: someone else's changes are there. */
  #hindrance(changes: readonly FileChange[], now: ReadonlyMap<string, string>): string | undefined {
    const { top } = this.#scratch;
    const removed = new Set(changes.flatMap(({ path, after }) => (after === NONE ? path : [])));
    for (const { path, before, after } of changes) {
      if ([before, after].some((state) => state.startsWith('160000'))) return `${path} is a submodule`;
      const obstacle = after === NONE ? undefined : obstacleAt(top, path, removed);
      if (obstacle !== undefined) return obstacle;
      if (now.get(path) === before) continue;
      if (before === NONE) return `there is already a ${path} that git does not track`;
      return now.get(path) === NONE ? `${path} does not exist` : `${path} was changed by somebody else`;
    }
    return undefined;
  }
}

interface Changed {
  readonly committed: string;
  readonly staged: string;
}

/** What is checked out: the commit and its tree. */
interface Committed {
  readonly head: string;
  readonly tree: string;
}

interface Looked {
  readonly foreign: readonly string[];
  readonly own: ReadonlyMap<string, string>;
}

async function readHead(scratch: Scratch, head: string, index: string): Promise<void> {
  await scratch.git(index, ['read-tree', '--no-sparse-checkout', head]);
}

/**
 * Builds the index: HEAD, and what this batch has written and is unchanged. Returns that, and tracked files changed by
 * others; undefined if there is nothing to look at, so that the index is HEAD.
 */
async function takeOwn(
  scratch: Scratch,
  head: string,
  changed: ReadonlyMap<string, Changed>,
  written: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<Looked | undefined> {
  const paths = [...new Set([...changed.keys(), ...written.keys()])];
  if (paths.length === 0) return undefined;
  await readHead(scratch, head, 'head');
  const now = await treeStates(scratch, 'head', paths);
  const isOwn = (path: string, state = '') => written.get(path)?.has(state) ?? false;
  const own = new Map([...now].filter(([path, state]) => isOwn(path, state)));
  const gone = [...own.keys()].filter((path) => own.get(path) === NONE);
  const kept = [...own.keys()].filter((path) => own.get(path) !== NONE);
  scratch.copy('head', 'index');
  await takeIn(scratch, 'index', gone, false);
  await takeIn(scratch, 'index', kept, true);
  const foreign = [...changed].flatMap(([path, { committed, staged }]) =>
    [staged, now.get(path)].every((state) => state === committed || isOwn(path, state)) ? [] : path,
  );
  return { foreign, own };
}

/** Tracked files that differ from HEAD, staged or not, as `git status` reports them. */
async function changedFiles(top: string, git: Git): Promise<Map<string, Changed>> {
  const how = ['--porcelain=v2', '-z', '--untracked-files=no', '--no-renames', '--ignore-submodules=dirty'];
  const changed = new Map<string, Changed>();
  // Without the lock it does not write the index.
  for (const line of splitNames(await git(['status', ...how], top, { GIT_OPTIONAL_LOCKS: '0' }))) {
    const plain = /^1 \S+ \S+ (\d+) (\d+) \d+ (\S+) (\S+) ([^]*)$/.exec(line);
    const [, modeH = '', modeI = '', blobH = '', blobI = '', path = ''] = plain ?? [];
    if (plain) changed.set(path, { committed: stateOf(modeH, blobH), staged: stateOf(modeI, blobI) });
    // An unmerged file counts as changed by others.
    const conflict = /^u (?:\S+ ){9}([^]*)$/.exec(line)?.[1];
    if (conflict !== undefined) changed.set(conflict, { committed: NONE, staged: 'unmerged' });
  }
  return changed;
}
