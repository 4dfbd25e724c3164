import type { BatchRecord } from '../folder.js';
import type { BatchResultEvent, TaskResult } from '../journal/event.js';

/** The state of a batch: ended as its journal says, or not. */
export interface BatchState extends Omit<BatchResultEvent, 'type' | 'status' | 'exit_code'> {
  readonly status: BatchResultEvent['status'] | 'running' | 'interrupted';
  /** Null until it has one. */
  readonly exit_code: number | null;
}

/** What all documents about a batch are made from. */
export interface BatchStory {
  readonly folder: string;
  readonly record: Pick<BatchRecord, 'name' | 'batch_id' | 'settings'>;
  readonly results: readonly TaskResult[];
  readonly state: BatchState;
}

/** A task that has ended without success. */
export function hasFailed({ status }: TaskResult): boolean {
  return !['completed', 'pending', 'approval_required'].includes(status);
}

/** `flaky, 2 of 3 runs passed`; undefined if tasks run once. */
export function runsText({ stability, runs }: TaskResult): string | undefined {
  if (!runs) return undefined;
  const passed = `${runs.passed} of ${runs.passed + runs.failed} runs passed`;
  return stability === null ? passed : `${stability.replace('_', ' ')}, ${passed}`;
}

/** `unverified (verify)` */
export function classOf({ status, reason }: Pick<TaskResult, 'status' | 'reason'>): string {
  return reason && reason !== status ? `${status} (${reason})` : status;
}
