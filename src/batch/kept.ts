import { attemptsFor, type History } from './history.js';
import type { PlannedTask } from './plan.js';
import type { Owner } from './workspaces/pool.js';

/**
 * Says whether an attempt may still go on in its workspace. That is up to what a start goes on with: the last attempt
 * under the key that its task has now, or the last of all for a task that this start knows nothing of.
 */
export function keptBy(tasks: readonly PlannedTask[], history: History): (owner: Owner) => boolean {
  const keys = new Map(tasks.map(({ id, key }) => [id, key]));
  return ({ id, attempt }) => {
    const all = history.get(id) ?? [];
    const key = keys.get(id);
    const last = (key === undefined ? all : attemptsFor(all, key)).at(-1);
    return last?.number === attempt && (!last.end?.ended || last.end.status === 'approval_required');
  };
}
