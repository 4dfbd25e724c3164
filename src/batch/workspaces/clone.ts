import { copyFileSync, cpSync, existsSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { alternatesFile, alternatesText } from '../../lib/git-alternates.js';
import { repositoryAt } from '../../lib/git.js';
import { removeTree } from '../../lib/remove-tree.js';
import type { Git } from './git.js';
import type { CloneSource } from './source.js';

/** A clone, and its original state. */
export interface ClonePlace {
  readonly path: string;
  /** Git's own folder as it was created. Tasks cannot write it. */
  readonly pristine: string;
}

/** Creates a clone that shares the objects of its source and nothing else: no remote, no hooks, no settings. */
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
  // What runs keep in a workspace is not a change.
  writeFileSync(join(own, 'info', 'exclude'), '/.bosun/\n');
  cpSync(own, pristine, { recursive: true });
}

/**
 * Like `git clone --shared`, without what would have to be removed again (remote, branches, tags). Also for a
 * shallow source, of which git would copy a branch instead.
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

/** The object format; read once for all clones. */
async function formatOf(source: CloneSource, common: string, git: Git): Promise<string> {
  const format = formats.get(source) ?? (await git(['rev-parse', '--show-object-format'], common)).trim();
  formats.set(source, format);
  return format;
}

/**
 * Restores a used clone to its original state. Its git folder may contain anything by now, including settings that
 * run programs, so it is replaced before any git reads it. Its former index knows which files were changed.
 */
export async function cleanClone({ path, pristine }: ClonePlace, commit: string, git: Git): Promise<void> {
  if (!existsSync(pristine) || !lstatSync(path).isDirectory())
    throw new Error(`${path} is no longer a clone`);
  removeTree(join(path, '.git'));
  cpSync(pristine, join(path, '.git'), { recursive: true });
  await git(['reset', '--quiet', '--hard', commit], path);
  await git(['clean', '--quiet', '-ffdx'], path);
}
