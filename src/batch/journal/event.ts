import type { Status, TASKS_FAILED } from '../../protocol/outcome.js';
import type { Isolation, Values } from '../spec.js';

export const JOURNAL_VERSION = 1;

/** How a batch can end: like a run, or with failed tasks. */
export type BatchStatus = Status | typeof TASKS_FAILED.status;

/** The parts of a key, each as a short hash, so that a change can be named. */
export type KeyParts = Readonly<Record<string, string>>;

/** How much the runs of a repeated task agreed. */
export const STABILITIES = ['stable_pass', 'flaky', 'stable_fail'] as const;
export type Stability = (typeof STABILITIES)[number];

export interface BatchInitEvent {
  readonly type: 'batch_init';
  readonly version: string;
  readonly name: string;
  readonly batch_sha256: string;
  readonly workspace: string;
  readonly isolation: Isolation;
  readonly base: string | null;
  readonly model: string;
  readonly concurrency: number;
  readonly tasks: { readonly total: number; readonly to_run: number };
  readonly options: Readonly<Record<string, string | boolean | number>>;
  /** What all starts together may spend, and what earlier ones have spent of it. */
  readonly budget?: {
    readonly cost_usd?: number;
    readonly tokens?: number;
    readonly spent_usd: number;
    readonly spent_tokens: number;
  };
}

export interface TaskStartEvent {
  readonly type: 'task_start';
  readonly id: string;
  readonly key: string;
  readonly parts: KeyParts;
  readonly attempt: number;
  /** Which of several runs of the task it belongs to. */
  readonly run?: number;
  readonly resumed: boolean;
  /** Relative to the folder of the batch. */
  readonly transcript: string;
  /** The clone that it works in, relative to the folder; absent if tasks share the workspace. */
  readonly workspace?: string;
  /** The worker that runs it, if it came from a queue. */
  readonly worker?: string;
  /** Why it runs again, if it ran before. */
  readonly why?: string;
  /** Earlier attempts no longer count. */
  readonly fresh?: true;
}

export interface TaskError {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}

/** What a budget was charged for answers whose usage the provider did not report. */
export interface Estimated {
  readonly cost_usd: number;
  readonly tokens: number;
}

/** Hashes of the files that an attempt has left. */
export interface Seal {
  /** Of the last line of its transcript, which is chained to all lines before it. */
  readonly transcript: string;
  readonly patch?: string;
  /** Of each stored output, by its name. */
  readonly outputs?: Readonly<Record<string, string>>;
}

export interface TaskEndEvent {
  readonly type: 'task_end';
  readonly id: string;
  readonly key: string;
  readonly attempt: number;
  readonly run?: number;
  /** False if it was interrupted, and continues in the same attempt. */
  readonly ended: boolean;
  readonly status: Status;
  readonly exit_code: number;
  readonly reason: string | null;
  readonly response: string | null;
  readonly structured_output?: unknown;
  readonly changes?: unknown;
  readonly patch: string | null;
  readonly transcript: string | null;
  /** Of the whole attempt so far. */
  readonly cost_usd: number | null;
  readonly tokens: number | null;
  readonly estimated?: Estimated;
  readonly turns: number;
  readonly duration_ms: number;
  /** Of this start of it. */
  readonly waited_ms: number;
  readonly requests: number;
  readonly error?: TaskError;
  readonly seal?: Seal;
}

export interface GateEvent {
  readonly type: 'gate';
  readonly kind: 'rejected' | 'reopened' | 'grown' | 'closed';
  readonly account: string;
  readonly message: string;
  readonly concurrency?: number;
  readonly requests_per_minute?: number;
  readonly wait_ms?: number;
  /** The worker whose gate it is, if workers run the tasks. */
  readonly worker?: string;
}

export interface BatchNoticeEvent {
  readonly type: 'batch_notice';
  readonly level: 'info' | 'warning';
  readonly code: string;
  readonly message: string;
  readonly task?: string;
  /** The patch that was applied, and the commit that it was applied to. */
  readonly sha256?: string;
  readonly head?: string;
  /** The state of files after the patch. */
  readonly files?: readonly FileState[];
}

export interface FileState {
  readonly path: string;
  /** Mode and blob as in git, or `none`. */
  readonly state: string;
}

export interface TaskCounts {
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
  readonly pending: number;
  /** How many of the completed ones were completed before this start. */
  readonly skipped: number;
}

export interface BatchResultEvent {
  readonly type: 'batch_result';
  readonly status: BatchStatus;
  readonly exit_code: number;
  readonly reason: string | null;
  readonly message: string;
  readonly tasks: TaskCounts;
  /** How many tasks have each, if the batch repeats them. */
  readonly stability?: Readonly<Record<Stability, number>>;
  readonly cost_usd: number | null;
  readonly tokens: number | null;
  /** In addition, what the budget was charged for answers whose usage is unknown. */
  readonly estimated?: Estimated;
  readonly requests: number;
  readonly rejected: number;
  readonly late_results: number;
  readonly waited_ms: number;
  readonly duration_ms: number;
  readonly reset_at: string | null;
  readonly continue: string | null;
}

export type BatchEvent =
  BatchInitEvent | TaskStartEvent | TaskEndEvent | GateEvent | BatchNoticeEvent | BatchResultEvent;

export type JournalLine = BatchEvent & {
  readonly v: typeof JOURNAL_VERSION;
  readonly seq: number;
  readonly timestamp: string;
  readonly batch_id: string;
  readonly prev: string;
};

/** One task in results.jsonl. Null means unknown. */
export interface TaskResult {
  readonly id: string;
  readonly key: string;
  readonly values: Values;
  readonly status: Status | 'pending';
  readonly exit_code: number | null;
  readonly reason: string | null;
  readonly response: string | null;
  readonly structured_output: unknown;
  readonly changes: unknown;
  readonly patch: string | null;
  readonly transcript: string | null;
  readonly cost_usd: number | null;
  readonly tokens: number | null;
  readonly turns: number | null;
  readonly duration_ms: number | null;
  readonly waited_ms: number | null;
  readonly attempts: number;
  /** Of a repeated task, once its outcome is certain. */
  readonly stability: Stability | null;
  readonly runs: { readonly passed: number; readonly failed: number } | null;
  readonly error: TaskError | null;
}
