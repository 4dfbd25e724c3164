import { isInside } from '../lib/real-path.js';
import { isMutator } from '../protocol/kind.js';
import type { PathUse } from '../protocol/tool.js';
import type { Planned } from './plan.js';

/**
 * Which earlier calls a call has to wait for, by their positions. A mutator waits for all of them, and all later calls
 * wait for it, unless the policy says that it may run beside others. Calls that touch the same file keep their order
 * in any case.
 */
export function waitsFor(next: Planned, before: readonly Planned[]): number[] {
  if (!overlaps(next)) return before.map((_, i) => i);
  const places: number[] = [];
  for (let i = before.length - 1; i >= 0; i--) {
    const other = before[i] as Planned;
    if (overlaps(other) && !meet(next, other)) continue;
    places.push(i);
    // This one has waited for everything before it.
    if (!overlaps(other)) break;
  }
  return places;
}

function overlaps({ kind, action }: Planned): boolean {
  return !isMutator(kind) || (action.type === 'run' && action.parallel === true);
}

function meet(a: Planned, b: Planned): boolean {
  const [ours, theirs] = [a, b].map(({ action }) => (action.type === 'run' ? action.invocation.paths : []));
  return (ours ?? []).some((one) => theirs?.some((other) => touches(one, other)));
}

function touches(a: PathUse, b: PathUse): boolean {
  if (a.access === 'read' && b.access === 'read') return false;
  const [one, other] = [a.real ?? a.path, b.real ?? b.path];
  return isInside(one, other) || isInside(other, one);
}
