import { chmodSync, lstatSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from './attempt.js';
import { errorCode } from './errors.js';
import { entriesIn } from './folders.js';

/** Removes a folder and all its contents, even our own read-only folders (as in module caches). */
export function removeTree(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes(errorCode(error) ?? '')) throw error;
    openUp(path);
    rmSync(path, { recursive: true, force: true });
  }
}

/** Never follows a link: its target is not ours. */
function openUp(folder: string): void {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) return;
  if ((stats.mode & 0o700) !== 0o700) attempt(() => chmodSync(folder, stats.mode | 0o700));
  for (const entry of entriesIn(folder)) if (entry.isDirectory()) openUp(join(folder, entry.name));
}
