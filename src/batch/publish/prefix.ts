import { posix } from 'node:path';

/**
 * The path from the top of a repository to the workspace of a run: its changes are named from there, its patch from the top.
 * Undefined if that is not clear.
 */
export function prefixOf(patched: readonly string[], changed: readonly string[]): string | undefined {
  const [first] = changed;
  if (first === undefined) return undefined;
  const known = new Set(patched);
  const prefixes = patched.flatMap((path) => {
    if (path === first) return '';
    return path.endsWith(`/${first}`) ? path.slice(0, -first.length - 1) : [];
  });
  const fitting = prefixes.filter((prefix) => changed.every((path) => known.has(posix.join(prefix, path))));
  return fitting.length === 1 ? fitting[0] : undefined;
}
