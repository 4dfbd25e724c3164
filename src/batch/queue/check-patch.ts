import { oneLine } from '../../lib/text.js';
import type { PolicyFacts } from '../../runs/policy-facts.js';
import { changeFault } from '../../policy/protected-changes.js';
import { patchPaths } from '../patch-paths.js';
import type { Git } from '../workspaces/git.js';
import type { CloneSource } from '../workspaces/source.js';

/** Throws unless a patch from a queue is valid, and changes only what runs of its batch may change. */
export async function checkPatch(
  patch: string,
  { path: top, prefix }: CloneSource,
  { git, facts }: { readonly git: Git; readonly facts: PolicyFacts },
): Promise<void> {
  const fault = changeFault(facts.effective, { top, prefix });
  for (const path of await patchPaths(patch, git)) {
    const why = fault(path);
    if (why !== undefined) throw new Error(`its patch is not allowed: ${oneLine(why, 300)}`);
  }
}
