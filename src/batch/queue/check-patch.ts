import { errorMessage } from '../../lib/errors.js';
import { oneLine } from '../../lib/text.js';
import type { PolicyFacts } from '../../runs/policy-facts.js';
import { changeFault } from '../../runs/protected-changes.js';
import type { Git } from '../workspaces/git.js';
import type { CloneSource } from '../workspaces/source.js';

/** Throws if a patch that came through a queue is none, or changes what no run of its batch may. */
export async function checkPatch(
  patch: string,
  { path: top, prefix }: CloneSource,
  { git, facts }: { readonly git: Git; readonly facts: PolicyFacts },
): Promise<void> {
  const fault = changeFault(facts.effective, { top, prefix });
  // What is moved has two names: the other way round it is called by the other one.
  for (const direction of [[], ['--reverse']]) {
    const how = ['apply', '--numstat', '-z', ...direction, '--', patch];
    // Away from any repository, or git leaves out what is not below the folder that it is called in.
    const listed = await git(how, '/', { GIT_DIR: '/dev/null' }).catch((error: unknown) => {
      throw new Error(`its patch cannot be read: ${errorMessage(error)}`);
    });
    for (const line of listed.split('\0').filter(Boolean)) {
      const why = fault(line.replace(/^[^\t]*\t[^\t]*\t/, ''));
      if (why !== undefined) throw new Error(`its patch is not allowed: ${oneLine(why, 300)}`);
    }
  }
}
