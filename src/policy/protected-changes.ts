import { join } from 'node:path';
import { isInside, pathFrom, realPath } from '../lib/real-path.js';
import type { EffectivePolicy } from './fold.js';
import { PathScope, protectedMessage } from './path-scope.js';
import { protectionOf } from '../protocol/protected-paths.js';

export interface ChangedRepository {
  /** The top of the repository. */
  readonly top: string;
  /** The path from there to the workspace of the runs. */
  readonly prefix: string;
}

/**
 * Says why no run under these policies can have changed a file (named from the top of its repository), if so: it is
 * outside of the repository, or protected.
 */
export function changeFault(
  { ruleSets, sources }: EffectivePolicy,
  repository: ChangedRepository,
): (path: string) => string | undefined {
  const top = realPath(repository.top);
  const workspace = join(top, repository.prefix);
  const writeProtected = sources.map(({ file }) => realPath(file));
  const scopes = ruleSets.map((set) => new PathScope({ workspace, writeProtected }, set.workspace));
  return (path) => {
    const full = join(top, path);
    if (path.startsWith('/') || path === '' || !isInside(top, full) || pathFrom(top, full) !== path)
      return `${path} is not in the repository`;
    const [reason] = scopes.flatMap((scope) => scope.protection(full) ?? []);
    // Services read their files at the top, not in the workspace.
    const found = reason ?? (isInside(workspace, full) ? undefined : protectionOf(path));
    return found === undefined ? undefined : protectedMessage(path, found);
  };
}
