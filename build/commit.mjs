import { spawnSync } from 'node:child_process';
import { realpathSync } from 'node:fs';

/** The commit that is being built, `-dirty` if there is more than it. Null where the folder is no repository of its own. */
export function commitOf(root) {
  const git = (...args) => {
    const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
    return status === 0 ? stdout.trim() : undefined;
  };
  const top = git('rev-parse', '--show-toplevel');
  if (top === undefined || realpathSync(top) !== realpathSync(root)) return null;
  return git('describe', '--always', '--dirty', '--abbrev=40', '--exclude=*') ?? null;
}
