import { readdirSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { attempt } from '../lib/attempt.js';
import { errorWithCode, errorCode } from '../lib/errors.js';
import { isThere, makeFolders } from '../lib/folders.js';
import { realPath } from '../lib/real-path.js';

const IGNORE = '.gitignore';

/** Creates the folder for what runs keep in a workspace; a codemod's `git add -A` may not pick it up. */
export function openRunsFolder(folder: string): void {
  // A committed link may not make us write elsewhere.
  if (realPath(folder) !== folder) throw errorWithCode('ELOOP', 'a part of it is a symbolic link');
  // Never creates the workspace itself: a command may have removed it.
  statSync(dirname(dirname(folder)));
  makeFolders(folder);
  ignore(folder);
}

/** Removes a folder that is empty, as if it had never been there. */
export function closeRunsFolder(folder: string): void {
  if (attempt(() => readdirSync(folder).join()) !== IGNORE) return;
  try {
    rmSync(join(folder, IGNORE));
    rmdirSync(folder);
    rmdirSync(dirname(folder));
  } catch {
    // Another run has begun to use it meanwhile.
    if (isThere(folder)) attempt(() => ignore(folder));
  }
}

function ignore(folder: string): void {
  try {
    writeFileSync(join(folder, IGNORE), '*\n', { flag: 'wx' });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}
