import type { Halt } from './halt.js';
import type { TaskEndEvent } from './journal/event.js';
import type { Charge } from './charge.js';
import type { Step } from './plan.js';
import type { BatchTask } from './prepare.js';

/** A task that is to run now. */
export interface PlannedRun {
  readonly task: BatchTask;
  readonly step: Extract<Step, { type: 'start' | 'resume' }>;
  /** What the attempt that continues has spent already. */
  readonly spent?: Charge;
}

/** Carries out a conductor's decisions, in this process or elsewhere. */
export interface Executor {
  /** Whether a task may begin now. If so, an attempt must follow. */
  begin(planned: PlannedRun): boolean;
  /** One attempt from start to end; both go to the journal. */
  attempt(planned: PlannedRun, signal: AbortSignal): Promise<TaskEndEvent>;
  /** Nothing new may start. */
  halt(halt: Halt): void;
}
