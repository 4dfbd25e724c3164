import { errorMessage } from '../../lib/errors.js';
import { oneLine } from '../../lib/text.js';
import type { PolicyFacts } from '../../runs/policy-facts.js';
import { changeFault } from '../../policy/protected-changes.js';
import type { Git } from '../workspaces/git.js';
import type { CloneSource } from '../workspaces/source.js';

/** Throws unless a patch from a queue is valid, and changes only what runs of its batch may change. */
export async function checkPatch(
  patch: string,
  { path: top, prefix }: CloneSource,
  { git, facts }: { readonly git: Git; readonly facts: PolicyFacts },
): Promise<void> {
  const fault = changeFault(facts.effective, { top, prefix });
  // A moved file has two names: reversing the patch shows the other one.
  for (const direction of [[], ['--reverse']]) {
    const how = ['apply', '--numstat', '-z', ...direction, '--', patch];
    // Outside of any repository: otherwise git leaves out what is not below the current folder.
    const listed = await git(how, '/', { GIT_DIR: '/dev/null' }).catch((error: unknown) => {
      throw new Error(`its patch cannot be read: ${errorMessage(error)}`);
    });
    for (const line of listed.split('\0').filter(Boolean)) {
      const why = fault(line.replace(/^[^\t]*\t[^\t]*\t/, ''));
      if (why !== undefined) throw new Error(`its patch is not allowed: ${oneLine(why, 300)}`);
    }
  }
}
