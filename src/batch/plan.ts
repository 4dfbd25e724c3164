import type { Status } from '../protocol/outcome.js';
import { attemptsFor, type Attempt } from './history.js';
import type { KeyParts } from './journal/event.js';
import { changedParts } from './key.js';
import { runOf, runsOf } from './repeat.js';
import type { Repeat } from './spec.js';

/** What to do with a task now. */
export type Step =
  /** It was completed under the same key. */
  | { readonly type: 'skip' }
  /** It ended otherwise, and is not to be tried again. */
  | { readonly type: 'keep'; readonly status: Status }
  /** It waits for an approval. */
  | { readonly type: 'wait' }
  /** It was interrupted, and continues. */
  | {
      readonly type: 'resume';
      readonly attempt: Attempt;
      readonly tries: number;
      /** The attempt that replaces it, if it cannot continue after all. */
      readonly next: number;
    }
  | {
      readonly type: 'start';
      readonly number: number;
      /** How often it was tried already. */
      readonly tries: number;
      /** Which of several runs this is. */
      readonly run?: number;
      readonly why?: string;
      readonly fresh?: true;
    };

type Start = Extract<Step, { type: 'start' }>;

export interface PlanSettings {
  readonly attempts: number;
  readonly retryOn: readonly Status[];
  readonly repeat: Repeat;
  readonly retryFailed: boolean;
  readonly isRedone: (id: string) => boolean;
  /** Whether what an attempt needs to continue is still there. */
  readonly canResume: (attempt: Attempt) => boolean;
  /** Whether an attempt has left nothing at all. */
  readonly isUnbegun?: (attempt: Attempt) => boolean;
  /** Whether what an attempt waits for has been answered. */
  readonly isAnswered: (attempt: Attempt) => boolean;
}

export interface PlannedTask {
  readonly id: string;
  readonly key: string;
  readonly parts: KeyParts;
}

/** Says what to do with a task, by its attempts so far. */
export function planTask(task: PlannedTask, attempts: readonly Attempt[], settings: PlanSettings): Step {
  const { repeat, retryOn } = settings;
  const number = nextNumber(attempts);
  const own = attemptsFor(attempts, task.key);
  const last = own.at(-1);
  const start = (run: number, tries: number, why?: string): Start => ({
    ...{ type: 'start', number, tries },
    ...(repeat.times > 1 && { run }),
    ...(why !== undefined && { why }),
  });
  if (!last) {
    const before = attempts.at(-1);
    return start(1, 0, before && changedParts(before.parts, task.parts));
  }
  const run = runOf(last);
  const tries = own.filter(
    (one) => runOf(one) === run && one.end?.ended && retryOn.includes(one.end.status),
  ).length;
  const goOn = (): Step => {
    if (settings.canResume(last)) return { type: 'resume', attempt: last, tries, next: number };
    // Interrupted before it did anything, it is still the same attempt.
    const isSame = last.end && last.number === number - 1 && settings.isUnbegun?.(last);
    if (isSame) return { ...start(run, tries, 'it was interrupted before it began'), number: last.number };
    return start(run, tries, 'it was interrupted, and cannot be resumed');
  };
  const again = (why: string): Start => ({ ...start(1, 0, why), fresh: true });
  const { end } = last;
  if (!end?.ended) return goOn();
  if (settings.isRedone(task.id)) return again('it is to be run again');
  const { outcome, shown } = runsOf(own, repeat);
  if (outcome === 'passed') return { type: 'skip' };
  if (end.status === 'approval_required') return settings.isAnswered(last) ? goOn() : { type: 'wait' };
  if (retryOn.includes(end.status) && tries < settings.attempts)
    return start(run, tries, `it ended with ${end.status}`);
  if (!outcome) return start(run + 1, 0, `run ${run + 1} of at most ${repeat.times}`);
  const { status } = shown?.end ?? end;
  return settings.retryFailed ? again(`it ended with ${status}`) : { type: 'keep', status };
}

/** Never used before, under any key: a number names the folder of an attempt. */
function nextNumber(attempts: readonly Attempt[]): number {
  return Math.max(0, ...attempts.map(({ number }) => number)) + 1;
}
