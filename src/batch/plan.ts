import type { Status } from '../protocol/outcome.js';
import { attemptsFor, completedIn, type Attempt } from './history.js';
import type { KeyParts } from './journal/event.js';
import { changedParts } from './key.js';

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
      readonly why?: string;
      readonly fresh?: true;
    };

export interface PlanSettings {
  readonly attempts: number;
  readonly retryOn: readonly Status[];
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
  const number = (attempts.at(-1)?.number ?? 0) + 1;
  const own = attemptsFor(attempts, task.key);
  const last = own.at(-1);
  const again = (why: string) => ({ type: 'start', number, tries: 0, why, fresh: true }) as const;
  if (!last) {
    const before = attempts.at(-1);
    return {
      type: 'start',
      number,
      tries: 0,
      ...(before && { why: changedParts(before.parts, task.parts) }),
    };
  }
  const tries = own.filter(({ end }) => end?.ended && settings.retryOn.includes(end.status)).length;
  const isOpen = !last.end?.ended;
  if (settings.isRedone(task.id) && !isOpen) return again('it is to be done again');
  if (!isOpen && completedIn(own)) return { type: 'skip' };
  if (isOpen || last.end?.status === 'approval_required') {
    if (!isOpen && !settings.isAnswered(last)) return { type: 'wait' };
    if (settings.canResume(last)) return { type: 'resume', attempt: last, tries };
    return { type: 'start', number, tries, why: 'it was cut short, and cannot be resumed' };
  }
  const { status } = last.end as NonNullable<Attempt['end']>;
  if (settings.retryOn.includes(status) && tries < settings.attempts)
    return { type: 'start', number, tries, why: `it ended with ${status}` };
  if (settings.retryFailed) return again(`it ended with ${status}`);
  return { type: 'keep', status };
}
