import type { Status, TASKS_FAILED } from '../../protocol/outcome.js';
import type { Isolation, Values } from '../spec.js';

export const JOURNAL_VERSION = 1;

/** How a batch can end: as a run does, or with tasks that have failed. */
export type BatchStatus = Status | typeof TASKS_FAILED.status;

/** The parts of a key, each as a short hash, so that it can be told which of them changed. */
export type KeyParts = Readonly<Record<string, string>>;

/** How alike the runs of a task that is repeated were. */
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
  /** What may be spent over all starts, and what earlier ones have spent of it. */
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
  /** The clone that it works in, relative to the folder; absent where tasks share the workspace. */
  readonly workspace?: string;
  /** The worker that runs it, if it came from a queue. */
  readonly worker?: string;
  /** Why it runs, if it did before. */
  readonly why?: string;
  /** What was before it does not count any more. */
  readonly fresh?: true;
}

export interface TaskError {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}

/** What a budget was charged for answers whose usage the provider did not tell. */
export interface Estimated {
  readonly cost_usd: number;
  readonly tokens: number;
}

/** Hashes of what an attempt has left behind. */
export interface Seal {
  /** Of the last line of its transcript, which is chained to all before it. */
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
  /** False if it was cut short, and goes on in the same attempt. */
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
  /** Whose gate it is, where workers run the tasks. */
  readonly worker?: string;
}

export interface BatchNoticeEvent {
  readonly type: 'batch_notice';
  readonly level: 'info' | 'warning';
  readonly code: string;
  readonly message: string;
  readonly task?: string;
  /** Of the patch that was applied, and the commit that it was applied on. */
  readonly sha256?: string;
  readonly head?: string;
  /** What the patch makes of files. */
  readonly files?: readonly FileState[];
}

export interface FileState {
  readonly path: string;
  /** Mode and blob as git has them, or `none`. */
  readonly state: string;
}

export interface TaskCounts {
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
  readonly pending: number;
  /** Of the completed ones, those that were so before this start. */
  readonly skipped: number;
}

export interface BatchResultEvent {
  readonly type: 'batch_result';
  readonly status: BatchStatus;
  readonly exit_code: number;
  readonly reason: string | null;
  readonly message: string;
  readonly tasks: TaskCounts;
  /** How many tasks of a batch that repeats them are so. */
  readonly stability?: Readonly<Record<Stability, number>>;
  readonly cost_usd: number | null;
  readonly tokens: number | null;
  /** Besides those, what the budget was charged for answers whose usage is not known. */
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

/** One task in results.jsonl. What is not known is null. */
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
  /** Of a task that is repeated, once its outcome is certain. */
  readonly stability: Stability | null;
  readonly runs: { readonly passed: number; readonly failed: number } | null;
  readonly error: TaskError | null;
}
