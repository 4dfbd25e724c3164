import { dirname } from 'node:path';
import { isInside } from '../../lib/real-path.js';

/** Every hidden path costs each command a mount. */
const MANY = 300;

/**
 * The paths to hide one by one, if there are not too many; otherwise the folders that hold most of them are hidden
 * as a whole, so that nobody escapes the sandbox by overloading it. Undefined if even that is not enough.
 */
export function pathsToHide(
  root: string,
  paths: readonly string[],
  many = MANY,
): readonly string[] | undefined {
  if (paths.length <= many) return paths;
  const folders = new Map<string, number>();
  for (const path of paths) folders.set(dirname(path), (folders.get(dirname(path)) ?? 0) + 1);
  folders.delete(root);
  const fullest = [...folders].sort((a, b) => b[1] - a[1]);
  let left = paths;
  const whole: string[] = [];
  for (const [folder] of fullest) {
    left = left.filter((path) => !isInside(folder, path));
    whole.push(folder);
    if (left.length + whole.length <= many) return [...left, ...whole];
    if (whole.length > many) break;
  }
  return undefined;
}
