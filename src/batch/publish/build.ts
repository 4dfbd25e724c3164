import { oneLine } from '../../lib/text.js';
import type { Fate } from './body.js';
import { treeChanges, treeFault, type TreeChange } from './inspect-tree.js';
import type { Piece } from './publication.js';
import type { Unit } from './units.js';
import type { Workshop } from './workshop.js';

export interface BuiltMember {
  readonly piece: Piece;
  readonly fate: Fate;
  readonly reason: string | undefined;
}

/** A unit as a commit on a parent. */
export interface Built {
  readonly members: readonly BuiltMember[];
  readonly changes: readonly TreeChange[];
  /** Undefined if nothing is left to publish. */
  readonly commit: string | undefined;
}

/** Applies the patches of a unit onto a commit, one after the other, each whole or not at all. */
export async function buildUnit(
  unit: Unit,
  parent: string,
  author: string,
  workshop: Workshop,
): Promise<Built> {
  const first = await workshop.start(parent);
  let tree = first;
  const members: BuiltMember[] = [];
  let changes: readonly TreeChange[] = [];
  for (const { piece, patch, rules } of unit.members) {
    const merged = await workshop.tryPatch(patch);
    const end = (fate: Fate, reason?: string) => members.push({ piece, fate, reason });
    if ('conflict' in merged) end('conflict', oneLine(merged.conflict, 300));
    else if (merged.tree === tree) end('merged', 'the base already has these changes');
    else {
      const own = await treeChanges(workshop, tree, merged.tree);
      const why = await treeFault(workshop, own, rules);
      if (why !== undefined) end('refused', oneLine(why, 300));
      else {
        workshop.keep(merged.tree);
        changes = own;
        ({ tree } = merged);
        end('in');
      }
    }
  }
  const inside = members.flatMap(({ piece, fate }) => (fate === 'in' ? piece : []));
  if (tree === first)
    return { members: inside.length > 0 ? members.map(undone) : members, changes: [], commit: undefined };
  const times = inside.map(({ story }) => story.endedAt.getTime());
  const keys = inside.map(({ key }) => `Bosun-Key: ${key}`).join('\n');
  const commit = await workshop.commit({
    ...{ tree, parent, author, message: `${unit.title}\n\n${keys}\n` },
    date: new Date(Math.max(...times)),
  });
  // One patch has made all of them.
  if (inside.length > 1) changes = await treeChanges(workshop, first, tree);
  return { members, changes, commit };
}

/** Patches that together change nothing. */
function undone(member: BuiltMember): BuiltMember {
  return member.fate === 'in'
    ? { ...member, fate: 'merged', reason: 'together with the others it changes nothing' }
    : member;
}
