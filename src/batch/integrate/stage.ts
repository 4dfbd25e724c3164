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

  /** The tree of the index. */
  #tree: string;

  private constructor(head: string, foreign: readonly string[], scratch: Scratch, tree: string) {
    this.head = head;
    this.foreign = foreign;
    this.#scratch = scratch;
    this.#tree = tree;
  }

  static async open({ workspace, folder, git }: Integration, lines: readonly JournalLine[]): Promise<Stage> {
    const repository = gitFolder(workspace);
    if (!repository)
      throw batchProblem(`integrate: apply needs a git repository, but ${workspace} is not in one`);
    const scratch = new Scratch(folder, repository, git);
    try {
      const head = (await git(['rev-parse', 'HEAD'], scratch.top)).trim();
      await scratch.git('head', ['read-tree', '--no-sparse-checkout', head]);
      const changed = await changedFiles(scratch.top, git);
      const foreign = await takeOwn(scratch, changed, writtenStates(lines));
      return new Stage(head, foreign, scratch, await treeOf(scratch, 'index'));
    } catch (error) {
      scratch.close();
      throw error;
    }
  }

  /** Applies a patch to the tree. `onFit` gets the future state of files before anything is written. */
  async apply(patch: string, onFit: (files: readonly FileState[]) => void): Promise<Fit> {
    const scratch = this.#scratch;
    const merged = await mergePatch(scratch, patch, this.#tree, 'index', 'trial');
    if ('conflict' in merged) return { type: 'conflict', why: merged.conflict };
    if (merged.tree === this.#tree) return { type: 'there' };
    const changes = await this.#changesTo(merged.tree);
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
    return { type: 'written' };
  }

  close(): void {
    this.#scratch.close();
  }

  async #changesTo(tree: string): Promise<FileChange[]> {
    const how = ['-r', '-z', '--no-renames'];
    const listed = splitNames(await this.#scratch.git('trial', ['diff-tree', ...how, this.#tree, tree]));
    return Array.from({ length: listed.length / 2 }, (_, at) => {
      const [from = '', to = '', old = '', blob = ''] = (listed[2 * at] ?? '').slice(1).split(' ');
      return { path: listed[2 * at + 1] ?? '', before: stateOf(from, old), after: stateOf(to, blob) };
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

/**
 * Builds the index: HEAD, and what this batch has written and is unchanged. Returns tracked files changed by
 * others.
 */
async function takeOwn(
  scratch: Scratch,
  changed: ReadonlyMap<string, Changed>,
  written: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<string[]> {
  const paths = [...new Set([...changed.keys(), ...written.keys()])];
  const now = await treeStates(scratch, 'head', paths);
  const isOwn = (path: string, state = '') => written.get(path)?.has(state) ?? false;
  const own = paths.filter((path) => isOwn(path, now.get(path)));
  const gone = own.filter((path) => now.get(path) === NONE);
  const kept = own.filter((path) => now.get(path) !== NONE);
  scratch.copy('head', 'index');
  await takeIn(scratch, 'index', gone, false);
  await takeIn(scratch, 'index', kept, true);
  return [...changed].flatMap(([path, { committed, staged }]) =>
    [staged, now.get(path)].every((state) => state === committed || isOwn(path, state)) ? [] : path,
  );
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
