import { errorMessage } from '../lib/errors.js';
import type { Git } from './workspaces/git.js';

/** The paths that a patch changes, both names of what it moves. Throws if git cannot read it. */
export async function patchPaths(patch: string, git: Git): Promise<string[]> {
  const paths: string[] = [];
  // A moved file has two names: reversing the patch shows the other one.
  for (const direction of [[], ['--reverse']]) {
    const how = ['apply', '--numstat', '-z', ...direction, '--', patch];
    // Outside of any repository: otherwise git leaves out what is not below the current folder.
    const listed = await git(how, '/', { GIT_DIR: '/dev/null' }).catch((error: unknown) => {
      throw new Error(`its patch cannot be read: ${errorMessage(error)}`);
    });
    const lines = listed.split('\0').filter(Boolean);
    paths.push(...lines.map((line) => line.replace(/^[^\t]*\t[^\t]*\t/, '')));
  }
  return [...new Set(paths)];
}
