import { chmodSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from './attempt.js';
import { errorCode } from './errors.js';

/** Removes a folder and all that is in it, read-only folders of ours among it (as caches of modules are). */
export function removeTree(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes(errorCode(error) ?? '')) throw error;
    openUp(path);
    rmSync(path, { recursive: true, force: true });
  }
}

/** Never behind a link: that is somebody else's. */
function openUp(folder: string): void {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) return;
  if ((stats.mode & 0o700) !== 0o700) attempt(() => chmodSync(folder, stats.mode | 0o700));
  for (const entry of attempt(() => readdirSync(folder, { withFileTypes: true })) ?? [])
    if (entry.isDirectory()) openUp(join(folder, entry.name));
}
