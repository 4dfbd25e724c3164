import { GitFailed } from '../workspaces/git.js';
import type { Scratch } from './scratch.js';
import { splitNames, takeIn } from './tree.js';

/** The tree that a patch makes, or why it makes none. */
export type Merged = { readonly tree: string } | { readonly conflict: string };

/**
 * Applies a patch to a copy of an index as a three-way merge: of what the patch was made from, the index, and what the
 * patch makes of it. What the index already has changes nothing. `ours` is the tree of the index.
 */
export async function mergePatch(
  scratch: Scratch,
  patch: string,
  ours: string,
  from: string,
  to: string,
): Promise<Merged> {
  scratch.copy(from, to);
  const sides = await sidesOf(scratch, patch);
  if (sides) return mergeTrees(scratch, [sides.base, ours, sides.theirs], to);
  return asMerged(scratch, await applyAsIs(scratch, patch, to), to);
}

async function asMerged(scratch: Scratch, conflict: string | undefined, index: string): Promise<Merged> {
  return conflict === undefined ? { tree: await treeOf(scratch, index) } : { conflict };
}

async function mergeTrees(scratch: Scratch, trees: readonly string[], index: string): Promise<Merged> {
  const how = ['-i', '-m', '--aggressive', '--no-sparse-checkout'];
  await scratch.git(index, ['read-tree', ...how, ...trees]);
  // Most patches leave nothing unmerged. If one does, git makes no tree of it.
  const tree = await unlessRefused(() => treeOf(scratch, index));
  return tree === undefined ? asMerged(scratch, await mergeFiles(scratch, index), index) : { tree };
}

/** Merges what git has left unmerged, file by file. Returns a conflict, if there is one. */
async function mergeFiles(scratch: Scratch, index: string): Promise<string | undefined> {
  const open = await unmerged(scratch, index);
  await takeIn(scratch, index, [...open.keys()], false);
  for (const [path, sides] of open) {
    const merged = await mergeFile(scratch, sides);
    if (merged === NO_FILE) continue;
    const indexEntry = merged && ['--add', '--cacheinfo', `${merged.mode},${merged.blob},${path}`];
    // It rejects a file where there is a folder.
    const done =
      indexEntry && (await unlessRefused(() => scratch.git(index, ['update-index', ...indexEntry])));
    if (done === undefined) return `${path} has other changes in the same place`;
  }
  return undefined;
}

export async function treeOf(scratch: Scratch, index: string): Promise<string> {
  return (await scratch.git(index, ['write-tree'])).trim();
}

const APPLY = ['apply', '--cached', '--whitespace=nowarn'];

/** Trees of only a patch's files, before and after it; undefined if their contents are not in this repository. */
async function sidesOf(
  scratch: Scratch,
  patch: string,
): Promise<{ base: string; theirs: string } | undefined> {
  scratch.remove('ancestor');
  return unlessRefused(async () => {
    await scratch.git('index', ['apply', `--build-fake-ancestor=${scratch.path('ancestor')}`, patch]);
    const base = await treeOf(scratch, 'ancestor');
    await scratch.git('ancestor', [...APPLY, patch]);
    return { base, theirs: await treeOf(scratch, 'ancestor') };
  });
}

/** Without these contents a patch fits by its lines only. */
async function applyAsIs(scratch: Scratch, patch: string, index: string): Promise<string | undefined> {
  const done = async (...args: string[]) =>
    (await unlessRefused(() => scratch.git(index, [...APPLY, ...args, patch]), 1)) !== undefined;
  const isThere = await done('--reverse', '--check');
  return isThere || (await done()) ? undefined : 'the files have different lines from those it was made from';
}

interface Entry {
  readonly mode: string;
  readonly blob: string;
}

const NO_FILE: Entry = { mode: '', blob: '' };

/** A file as the patch was made from it, as the index has it, and as the patch makes it. */
interface Sides {
  base: Entry;
  ours: Entry;
  theirs: Entry;
}

/** What git leaves unmerged: files that both sides have changed, and those that are folders elsewhere. */
async function unmerged(scratch: Scratch, index: string): Promise<Map<string, Sides>> {
  const files = new Map<string, Sides>();
  for (const entry of splitNames(await scratch.git(index, ['ls-files', '-u', '-z']))) {
    const [, mode = '', blob = '', stage, path = ''] = /^(\d+) ([0-9a-f]+) (\d)\t([^]*)$/.exec(entry) ?? [];
    const sides = files.get(path) ?? { base: NO_FILE, ours: NO_FILE, theirs: NO_FILE };
    sides[stage === '1' ? 'base' : stage === '2' ? 'ours' : 'theirs'] = { mode, blob };
    files.set(path, sides);
  }
  return files;
}

const isSame = (a: Entry, b: Entry) => a.mode === b.mode && a.blob === b.blob;

/** Undefined if the sides conflict. */
async function mergeFile(scratch: Scratch, { base, ours, theirs }: Sides): Promise<Entry | undefined> {
  if (isSame(ours, base)) return theirs;
  if (isSame(theirs, base) || isSame(ours, theirs)) return ours;
  if (![base, ours, theirs].every(({ mode }) => mode.startsWith('100'))) return undefined;
  const names: string[] = [];
  for (const { blob } of [ours, base, theirs])
    names.push((await scratch.gitHere(['unpack-file', blob])).trim());
  const [own = ''] = names;
  if (!(await isMerged(scratch, names))) return undefined;
  const blob = (await scratch.gitHere(['hash-object', '-w', '--no-filters', '--', own])).trim();
  for (const name of names) scratch.remove(name);
  // If one side is unchanged, the other side's counts.
  const mode = ours.mode === base.mode ? theirs.mode : ours.mode;
  return { mode, blob };
}

/** Whether the first of three files has taken in what the last one changes. A full disk is no conflict. */
async function isMerged(scratch: Scratch, names: readonly string[]): Promise<boolean> {
  try {
    await scratch.gitHere(['merge-file', ...names]);
    return true;
  } catch (error) {
    const { exitCode = 255, stderr = '' } = error instanceof GitFailed ? error : {};
    // Git says how many conflicts there are.
    if (exitCode > 127 && !stderr.includes('Cannot merge binary files')) throw error;
    for (const name of names) scratch.remove(name);
    return false;
  }
}

/** The result of git, or undefined if it says no. Throws if it was killed. */
async function unlessRefused<T>(work: () => Promise<T>, exitCode?: number): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    const isRefusal =
      error instanceof GitFailed &&
      error.exitCode !== undefined &&
      (exitCode ?? error.exitCode) === error.exitCode;
    if (!isRefusal) throw error;
    return undefined;
  }
}
