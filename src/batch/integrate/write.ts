import { cpSync, mkdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { errorCode, errorMessage } from '../../lib/errors.js';
import { makeRealFolders } from '../../lib/folders.js';
import { realPath } from '../../lib/real-path.js';
import { Problem } from '../../protocol/problem.js';
import type { Scratch } from './scratch.js';
import { NONE } from './tree.js';

/** A file, and its states before and after a patch. */
export interface FileChange {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/** Prepares the files of a change, as an index has them, for writing into the tree. */
export async function prepareFiles(
  scratch: Scratch,
  index: string,
  paths: readonly string[],
  name: string,
): Promise<void> {
  scratch.remove(name);
  mkdirSync(scratch.path(name));
  if (paths.length === 0) return;
  const input = paths.map((path) => `${path}\0`).join('');
  await scratch.git(
    index,
    ['checkout-index', '--quiet', `--prefix=${scratch.path(name)}/`, '-z', '--stdin'],
    input,
  );
}

/**
 * Puts prepared files into the tree, all of them or none. Nothing else runs in this process meanwhile, and each file
 * is whole, as before or as after.
 */
export async function writeFiles(
  scratch: Scratch,
  changes: readonly FileChange[],
  index: string,
  name: string,
): Promise<void> {
  const gone = changes.filter(({ after }) => after === NONE);
  const kept = changes.filter(({ after }) => after !== NONE);
  const done: FileChange[] = [];
  for (const change of [...gone, ...kept])
    try {
      if (change.after === NONE) remove(scratch.top, change.path);
      else moveIntoTree(scratch.path(`${name}/${change.path}`), scratch.top, change.path);
      done.push(change);
    } catch (error) {
      await undo(scratch, done, index);
      const message = `${change.path} cannot be written: ${errorMessage(error)}`;
      throw new Problem('tool_infra_error', 'integrate', message, { cause: error });
    }
}

/** Restores files from the index that has their old state. */
async function undo(scratch: Scratch, done: readonly FileChange[], index: string): Promise<void> {
  const old = done.filter(({ before }) => before !== NONE).map(({ path }) => path);
  await prepareFiles(scratch, index, old, 'undo');
  for (const { path, before } of done.toReversed())
    attempt(() => {
      if (before === NONE) remove(scratch.top, path);
      else moveIntoTree(scratch.path(`undo/${path}`), scratch.top, path);
    });
}

function moveIntoTree(from: string, top: string, path: string): void {
  const to = join(top, path);
  makeRealFolders(join(realPath(top), dirname(path)));
  try {
    renameSync(from, to);
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw error;
    const beside = join(dirname(to), `.bosun-${randomBytes(6).toString('hex')}.tmp`);
    try {
      cpSync(from, beside, { verbatimSymlinks: true });
      renameSync(beside, to);
    } finally {
      rmSync(beside, { force: true });
    }
  }
}

/** Like git, also removes folders that are empty then. */
function remove(top: string, path: string): void {
  rmSync(join(top, path), { force: true });
  attempt(() => {
    for (let above = dirname(path); above !== '.'; above = dirname(above)) rmdirSync(join(top, above));
  });
}
