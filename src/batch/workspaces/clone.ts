import { copyFileSync, cpSync, existsSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { alternatesFile, alternatesText } from '../../lib/git-alternates.js';
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
  source: CloneSource,
  sparse: readonly string[],
  git: Git,
): Promise<void> {
  const { path, pristine } = place;
  removeTree(path);
  removeTree(pristine);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  await borrow(source, path, git);
  if (sparse.length > 0) await git(['sparse-checkout', 'set', '--cone', '--', ...sparse], path);
  await git(['checkout', '--quiet', '-B', 'bosun', source.commit], path);
  const own = join(path, '.git');
  // What runs keep in a workspace is no change of theirs.
  writeFileSync(join(own, 'info', 'exclude'), '/.bosun/\n');
  cpSync(own, pristine, { recursive: true });
}

/**
 * What `git clone --shared` does, without what has to be taken away again (remote, branches, tags), and of a shallow
 * source too, of which git would copy a branch instead.
 */
async function borrow(source: CloneSource, path: string, git: Git): Promise<void> {
  const { common } = repositoryAt(source.path) ?? { common: source.path };
  const own = join(path, '.git');
  const init = ['init', '--quiet', '--template=', `--object-format=${await formatOf(source, common, git)}`];
  await git([...init, '--', path], path);
  for (const folder of ['info', join('objects', 'info')]) mkdirSync(join(own, folder), { recursive: true });
  writeFileSync(alternatesFile(join(own, 'objects')), alternatesText([join(common, 'objects')]));
  const shallow = join(common, 'shallow');
  if (existsSync(shallow)) copyFileSync(shallow, join(own, 'shallow'));
}

const formats = new WeakMap<CloneSource, string>();

/** How objects are named; asked once for all clones. */
async function formatOf(source: CloneSource, common: string, git: Git): Promise<string> {
  const format = formats.get(source) ?? (await git(['rev-parse', '--show-object-format'], common)).trim();
  formats.set(source, format);
  return format;
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
