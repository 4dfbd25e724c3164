import { delimiter, isAbsolute } from 'node:path';
import { isInside, realPathIfSeen } from './real-path.js';

/**
 * The folders of a search path in which nobody can put a program who may write below the given real paths. A folder that
 * does not exist yet counts by where it would be.
 */
export function searchPathOutside(folders: readonly string[], searchPath: string): string {
  const isOutside = (folder: string) => !folders.some((one) => isInside(one, realPathIfSeen(folder)));
  const kept = searchPath.split(delimiter).filter((folder) => isAbsolute(folder) && isOutside(folder));
  // An empty path stands for the current folder.
  return kept.join(delimiter) || '/nonexistent';
}
