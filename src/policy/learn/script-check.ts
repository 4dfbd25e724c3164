import type { CommandForm, Need, Never } from './lesson.js';
import { changedBelow, goesByFiles } from './script-changes.js';
import { filesGiven, type GivenFile } from './given-files.js';
import type { Trace } from './traces.js';
import { unseenFile } from './unseen-files.js';

/** What is known of a run when it makes a call. */
export interface Circumstances {
  readonly workspace: string;
  /** What the run changed; undefined if that is not known. */
  readonly changed: readonly string[] | undefined;
  /** What the calls before it may have changed besides. */
  readonly before: Trace;
}

/**
 * Whether a call starts something that its own run has changed, or may have: that shows what the run wanted, not what
 * was there. Remembers what it found out about the workspace.
 */
export function scriptCheck(): (needs: readonly Need[], candidate: Circumstances) => Never | undefined {
  const known = new Map<string, string | undefined>();
  const names = new WeakMap<readonly string[], string>();

  /** The changes of a run have one name: they are the same for every call of it. */
  function changedFile(form: CommandForm, changed: readonly string[], workspace: string): string | undefined {
    const name = names.get(changed) ?? JSON.stringify(changed);
    names.set(changed, name);
    const key = JSON.stringify([form, workspace, name]);
    if (!known.has(key)) known.set(key, changedBelow(form, changed, workspace));
    return known.get(key);
  }

  return (needs, { changed, before, workspace }) => {
    const given: GivenFile[] = [...(before.given ?? [])];
    let mayHaveUnseen = before.unseen === true;
    for (const need of needs) {
      if (need.type !== 'command' || !goesByFiles(need.form.words)) continue;
      const { spelt: what, form } = need;
      const never = (why: string) => ({ never: why, what, form });
      if (changed === undefined) return never('it is not known what its run has changed');
      const file = changedFile(form, changed, workspace);
      if (file !== undefined) return never(`its run has changed ${file}, which it may depend on`);
      if (before.by !== undefined)
        return never(`before it, its run used ${before.by}, which may have changed what it depends on`);
      const one = given.find(
        ({ by, file: name }) => by !== form.words[0] && changedFile(form, [name], workspace) !== undefined,
      );
      if (one) return never(`before it, its run gave ${one.file} to ${one.by}, and it may depend on that`);
      const unseen = mayHaveUnseen ? unseenFile(form, workspace) : undefined;
      if (unseen !== undefined)
        return never(`its run may have changed ${unseen}, which it may depend on and git does not see`);
      mayHaveUnseen = true;
      given.push(...filesGiven(form.words, form.directory ?? '.', workspace));
    }
    return undefined;
  };
}
