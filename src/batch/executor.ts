import type { Halt } from './halt.js';
import type { TaskEndEvent } from './journal/event.js';
import type { Charge } from './charge.js';
import type { Step } from './plan.js';
import type { BatchTask } from './prepare.js';

/** A task that is to run now. */
export interface PlannedRun {
  readonly task: BatchTask;
  readonly step: Extract<Step, { type: 'start' | 'resume' }>;
  /** What it has spent already in the attempt that goes on. */
  readonly spent?: Charge;
}

/** Carries out what a conductor decides: in this process, or elsewhere. */
export interface Executor {
  /** Whether a task may begin now. If so, an attempt at it follows. */
  begin(planned: PlannedRun): boolean;
  /** One attempt from its start to its end, both told to the journal. */
  attempt(planned: PlannedRun, signal: AbortSignal): Promise<TaskEndEvent>;
  /** Nothing new starts any more. */
  halt(halt: Halt): void;
}
