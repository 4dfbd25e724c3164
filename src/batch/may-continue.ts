import { attemptsFor, type History } from './history.js';
import type { PlannedTask } from './plan.js';
import type { Owner } from './workspaces/pool.js';

/**
 * Says whether an attempt may still continue in its workspace. Only attempts that a start would continue may: the
 * last one under the task's current key, or the last of all for a task that this start does not know.
 */
export function mayContinue(tasks: readonly PlannedTask[], history: History): (owner: Owner) => boolean {
  const keys = new Map(tasks.map(({ id, key }) => [id, key]));
  return ({ id, attempt }) => {
    const all = history.get(id) ?? [];
    const key = keys.get(id);
    const last = (key === undefined ? all : attemptsFor(all, key)).at(-1);
    return last?.number === attempt && (!last.end?.ended || last.end.status === 'approval_required');
  };
}
