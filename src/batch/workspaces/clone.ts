import { copyFileSync, cpSync, existsSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryAt } from '../../lib/git.js';
import { removeTree } from '../../lib/remove-tree.js';
import type { Git } from './git.js';
import type { CloneSource } from './source.js';

/** A clone, and beside it what it was like when it was new. */
export interface ClonePlace {
  readonly path: string;
  /** Git's own folder as it was made. Tasks cannot write it. */
  readonly pristine: string;
}

/** Makes a clone that shares the objects of its source and nothing else: no remote, no hooks, no settings. */
export async function makeClone(
  place: ClonePlace,
  { path: source, commit }: CloneSource,
  sparse: readonly string[],
  git: Git,
): Promise<void> {
  const { path, pristine } = place;
  removeTree(path);
  removeTree(pristine);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const { common } = repositoryAt(source) ?? { common: source };
  if (existsSync(join(common, 'shallow'))) await borrow(common, path, git);
  else {
    const quiet = ['--quiet', '--shared', '--no-checkout', '--no-tags', '--single-branch', '--template='];
    await git(['clone', ...quiet, '--', source, path], path);
    // A task has no way to push into the source by accident.
    await git(['remote', 'remove', 'origin'], path);
  }
  if (sparse.length > 0) await git(['sparse-checkout', 'set', '--cone', '--', ...sparse], path);
  await git(['checkout', '--quiet', '-B', 'bosun', commit], path);
  const own = join(path, '.git');
  mkdirSync(join(own, 'info'), { recursive: true });
  // What runs keep in a workspace is no change of theirs.
  writeFileSync(join(own, 'info', 'exclude'), '/.bosun/\n');
  cpSync(own, pristine, { recursive: true });
}

/** What `clone --shared` does, which git does not do for a shallow source: it copies one branch of that instead. */
async function borrow(source: string, path: string, git: Git): Promise<void> {
  const format = (await git(['rev-parse', '--show-object-format'], source)).trim();
  await git(['init', '--quiet', '--template=', `--object-format=${format}`, '--', path], path);
  const own = join(path, '.git');
  mkdirSync(join(own, 'objects', 'info'), { recursive: true });
  writeFileSync(join(own, 'objects', 'info', 'alternates'), `${join(source, 'objects')}\n`);
  copyFileSync(join(source, 'shallow'), join(own, 'shallow'));
}

/**
 * Makes a used clone as it was when it was new. Its git folder may hold anything by now, settings that run programs
 * among it, so it is replaced before any git looks at it. The index that it had knows which files were changed.
 */
export async function cleanClone({ path, pristine }: ClonePlace, commit: string, git: Git): Promise<void> {
  if (!existsSync(pristine) || !lstatSync(path).isDirectory())
    throw new Error(`${path} is no longer a clone`);
  removeTree(join(path, '.git'));
  cpSync(pristine, join(path, '.git'), { recursive: true });
  await git(['reset', '--quiet', '--hard', commit], path);
  await git(['clean', '--quiet', '-ffdx'], path);
}
