import { count } from '../../lib/text.js';
import { EXIT_CODES, exitCodeOf, TASKS_FAILED } from '../../protocol/outcome.js';
import type { Problem } from '../../protocol/problem.js';
import type { BatchStatus } from '../journal/event.js';
import type { FileLines } from './body.js';

/** What became of one task. */
export type PublishStatus =
  | 'published'
  | 'would_publish'
  | 'open'
  | 'merged'
  | 'closed'
  | 'waiting'
  | 'conflict'
  | 'refused'
  | 'changed'
  | 'skipped';

export interface PublishedTask {
  readonly id: string;
  readonly key: string;
  readonly status: PublishStatus;
  readonly branch: string | null;
  readonly url: string | null;
  readonly number: number | null;
  readonly reason: string | null;
  /** In a dry run: what the pull request would be. */
  readonly title?: string;
  readonly files?: readonly FileLines[];
}

/** What is known about a task besides its status. */
export interface TaskFacts {
  readonly branch?: string;
  readonly url?: string;
  readonly number?: number;
  readonly reason?: string | undefined;
  readonly title?: string;
  readonly files?: readonly FileLines[];
}

export function taskOf(
  { id, key }: { readonly id: string; readonly key: string },
  status: PublishStatus,
  { branch, url, number, reason, title, files }: TaskFacts,
): PublishedTask {
  return {
    ...{ id, key, status },
    ...{ branch: branch ?? null, url: url ?? null, number: number ?? null, reason: reason ?? null },
    ...(title !== undefined && { title }),
    ...(files && { files: files.map(({ path, added, removed }) => ({ path, added, removed })) }),
  };
}

export interface PublishResult {
  readonly status: BatchStatus;
  readonly exit_code: number;
  readonly reason: string | null;
  readonly message: string;
  readonly repository: string;
  /** The branch that the pull requests are for, if it is known. */
  readonly base: string | null;
  readonly dry_run: boolean;
  /** When there is room for more, if that is known. */
  readonly again_at: string | null;
  readonly published: readonly PublishedTask[];
}

/** These need somebody to look at them. */
const FAILED: readonly PublishStatus[] = ['conflict', 'refused', 'changed'];

type Ending = Pick<PublishResult, 'status' | 'exit_code' | 'reason' | 'message'>;

/** How it ends: with what stopped it, with what failed, with what waits, or well. */
export function endingOf(tasks: readonly PublishedTask[], stopped: Problem | undefined): Ending {
  const message = summaryOf(tasks);
  if (stopped) {
    const hint = stopped.hint ? `. ${stopped.hint}` : '';
    const { status, code: reason } = stopped;
    return {
      status,
      exit_code: exitCodeOf({ status, reason }),
      reason,
      message: `${stopped.message}${hint}`,
    };
  }
  if (tasks.some(({ status }) => FAILED.includes(status)))
    return { status: TASKS_FAILED.status, exit_code: TASKS_FAILED.exitCode, reason: 'publish', message };
  if (tasks.some(({ status }) => status === 'waiting'))
    return { status: 'limit', exit_code: EXIT_CODES.limit, reason: 'pull_requests', message };
  return { status: 'completed', exit_code: EXIT_CODES.completed, reason: null, message };
}

/** `3 tasks: 1 published, 2 waiting` */
export function summaryOf(tasks: readonly PublishedTask[]): string {
  const counts = new Map<PublishStatus, number>();
  for (const { status } of tasks) counts.set(status, (counts.get(status) ?? 0) + 1);
  const parts = [...counts].map(([status, n]) => `${n} ${wordOf(status)}`);
  return `${count(tasks.length, 'task')}${parts.length > 0 ? `: ${parts.join(', ')}` : ''}`;
}

/** A status for people. */
export function wordOf(status: PublishStatus): string {
  if (status === 'would_publish') return 'would be published';
  return status === 'open' ? 'already open' : status;
}
