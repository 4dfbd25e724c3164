import type { Emit } from '../protocol/event.js';
import type { Condition } from './conditions.js';

/** What has changed, by path. */
type Changed = ReadonlyMap<string, string>;

export interface ChangeSettings {
  readonly changed: () => Promise<Changed>;
  readonly hasNewCommit: () => Promise<boolean>;
  readonly emit: Emit;
}

const MISSING = 'nothing in the workspace has changed';

/** Something must have changed. `behind` runs another condition whose own traces do not count. */
export function changesCondition({ changed, hasNewCommit, emit }: ChangeSettings): {
  readonly condition: Condition;
  readonly behind: (other: Condition) => Condition;
} {
  const traces: Changed[] = [];
  const isTrace = (path: string, state: string) => traces.some((trace) => trace.get(path) === state);

  async function check(attempt: number) {
    const started = performance.now();
    const real = [...(await changed())].filter(([path, state]) => !isTrace(path, state));
    const ok = real.length > 0 || (await hasNewCommit());
    const message = ok ? `changed: ${real.length === 1 ? '1 file' : `${real.length} files`}` : MISSING;
    const duration_ms = Math.round(performance.now() - started);
    emit({ type: 'verification', condition: 'require_changes', ok, attempt, message, duration_ms });
    const explanation =
      'Nothing in the workspace has changed, and the task was to change something. Saying what should be done is not enough.';
    return ok ? undefined : { reason: 'no_changes', message: MISSING, explanation };
  }

  const behind = (other: Condition): Condition => ({
    async check(attempt) {
      const before = await changed();
      const missing = await other.check(attempt);
      if (missing) {
        const after = [...(await changed())];
        traces.push(new Map(after.filter(([path, state]) => before.get(path) !== state)));
      }
      return missing;
    },
  });
  return { condition: { check }, behind };
}
