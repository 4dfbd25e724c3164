import type { Attempt } from './history.js';
import type { Stability } from './journal/event.js';
import type { Repeat } from './spec.js';

/** The runs of a task, added up. */
export interface Runs {
  readonly passed: number;
  readonly failed: number;
  /** Undefined while the remaining runs can change it. */
  readonly outcome: 'passed' | 'failed' | undefined;
  readonly stability: Stability | undefined;
  /** The attempt shown for the task: the first that passed, else the last. */
  readonly shown: Attempt | undefined;
}

/** Adds up the runs of a task. An attempt that follows a failed one of the same run replaces it. */
export function runsOf(attempts: readonly Attempt[], { times, minPasses }: Repeat): Runs {
  const runs = [...new Map(attempts.map((one) => [runOf(one), one])).values()];
  const passes = attempts.filter(hasPassed);
  const passed = new Set(passes.map(runOf)).size;
  const losses = runs.filter((last) => hasFailed(last) && !passes.some((one) => runOf(one) === runOf(last)));
  // A patch that conflicts decides the outcome of its task, however often that has passed.
  const conflict = attempts.findLast(isConflict);
  const outcome = conflict
    ? 'failed'
    : passed >= minPasses
      ? 'passed'
      : losses.length > times - minPasses
        ? 'failed'
        : undefined;
  const shown =
    outcome === 'passed' ? passes[0] : (conflict ?? (outcome && losses.at(-1)) ?? attempts.at(-1));
  const mixed = passed > 0 && losses.length > 0;
  const stability = outcome && (mixed ? 'flaky' : passed > 0 ? 'stable_pass' : 'stable_fail');
  return { passed, failed: losses.length, outcome, stability, shown };
}

/** From 1 on. */
export function runOf({ run = 1 }: Pick<Attempt, 'run'>): number {
  return run;
}

function hasPassed({ end }: Attempt): boolean {
  return end?.ended === true && (end.status === 'completed' || end.reason === 'conflict');
}

function hasFailed({ end }: Attempt): boolean {
  return end?.ended === true && end.status !== 'approval_required';
}

function isConflict({ end }: Attempt): boolean {
  return end?.reason === 'conflict';
}
