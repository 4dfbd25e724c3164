import type { Status } from '../protocol/outcome.js';
import { attemptsFor, type Attempt } from './history.js';
import type { KeyParts } from './journal/event.js';
import { changedParts } from './key.js';
import { runOf, runsOf } from './repeat.js';
import type { Repeat } from './spec.js';

/** What to do about a task now. */
export type Step =
  /** It was completed under the same key. */
  | { readonly type: 'skip' }
  /** It has ended otherwise, and nobody wants it again. */
  | { readonly type: 'keep'; readonly status: Status }
  /** Somebody has to approve something first. */
  | { readonly type: 'wait' }
  /** It was cut short, and goes on. */
  | { readonly type: 'resume'; readonly attempt: Attempt; readonly tries: number }
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
  /** Whether what an attempt needs to go on is still there. */
  readonly canResume: (attempt: Attempt) => boolean;
  /** Whether somebody has answered what an attempt waits for. */
  readonly isAnswered: (attempt: Attempt) => boolean;
}

export interface PlannedTask {
  readonly id: string;
  readonly key: string;
  readonly parts: KeyParts;
}

/** Says what to do about a task, by what became of it so far. */
export function planTask(task: PlannedTask, attempts: readonly Attempt[], settings: PlanSettings): Step {
  const { repeat, retryOn } = settings;
  const number = (attempts.at(-1)?.number ?? 0) + 1;
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
  const isOpen = !last.end?.ended;
  const again = (why: string): Start => ({ ...start(1, 0, why), fresh: true });
  if (settings.isRedone(task.id) && !isOpen) return again('it is to be done again');
  const { outcome, shown } = runsOf(own, repeat);
  if (!isOpen && outcome === 'passed') return { type: 'skip' };
  const tries = own.filter(
    (one) => runOf(one) === runOf(last) && one.end?.ended && retryOn.includes(one.end.status),
  ).length;
  if (isOpen || last.end?.status === 'approval_required') {
    if (!isOpen && !settings.isAnswered(last)) return { type: 'wait' };
    if (settings.canResume(last)) return { type: 'resume', attempt: last, tries };
    return start(runOf(last), tries, 'it was cut short, and cannot be resumed');
  }
  const { status } = last.end as NonNullable<Attempt['end']>;
  if (retryOn.includes(status) && tries < settings.attempts)
    return start(runOf(last), tries, `it ended with ${status}`);
  if (!outcome) return start(runOf(last) + 1, 0, `run ${runOf(last) + 1} of at most ${repeat.times}`);
  const { status: kept } = shown?.end ?? { status };
  if (settings.retryFailed) return again(`it ended with ${kept}`);
  return { type: 'keep', status: kept };
}
