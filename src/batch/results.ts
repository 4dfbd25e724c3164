import { attemptsFor, type Attempt, type History } from './history.js';
import type { TaskCounts, TaskEndEvent, TaskResult } from './journal/event.js';
import { runsOf } from './repeat.js';
import type { Repeat, Values } from './spec.js';
import { roundDollars } from '../lib/money.js';

/** A task as in batch.json. */
export interface RecordedTask {
  /** Its position among all tasks of the source, over all shards. */
  readonly index: number;
  readonly id: string;
  readonly key: string;
  readonly values: Values;
}

/** The result of each task, in task order. */
export function resultsOf(tasks: readonly RecordedTask[], history: History, repeat: Repeat): TaskResult[] {
  return tasks.map((task) => taskResult(task, history.get(task.id) ?? [], repeat));
}

export function taskResult(
  { id, key, values }: RecordedTask,
  attempts: readonly Attempt[],
  repeat: Repeat,
): TaskResult {
  const own = runsOf(attemptsFor(attempts, key), repeat);
  const { shown, stability = null, passed, failed } = own;
  const end = finalEnd(own);
  const repeated = repeat.times > 1 ? { stability, runs: { passed, failed } } : NOT_REPEATED;
  const last = attempts.flatMap((attempt) => attempt.ends.at(-1) ?? []);
  const ends = attempts.flatMap((attempt) => attempt.ends);
  return {
    id,
    key,
    values,
    status: end.status,
    exit_code: end.exit_code,
    reason: end.reason,
    response: end.response,
    structured_output: end.structured_output ?? null,
    changes: end.changes ?? null,
    patch: end.patch,
    transcript: shown?.transcript ?? null,
    cost_usd: sumKnown(last, ({ cost_usd }) => cost_usd),
    tokens: sumKnown(last, ({ tokens }) => tokens),
    turns: end.turns,
    duration_ms: end.duration_ms,
    waited_ms: ends.length > 0 ? sumKnown(ends, ({ waited_ms }) => waited_ms) : null,
    attempts: attempts.length,
    ...repeated,
    error: end.error ?? null,
  };
}

function finalEnd({ outcome, shown }: ReturnType<typeof runsOf>) {
  const isOver = outcome !== undefined || shown?.end?.status === 'approval_required';
  return isOver && shown?.end?.ended ? shown.end : NO_END;
}

const NOT_REPEATED = { stability: null, runs: null } as const;

/** Of a task that has not ended. */
const NO_END: Pick<
  TaskResult,
  'status' | 'exit_code' | 'reason' | 'response' | 'patch' | 'turns' | 'duration_ms'
> &
  Partial<Pick<TaskEndEvent, 'structured_output' | 'changes' | 'error'>> = {
  status: 'pending',
  exit_code: null,
  reason: null,
  response: null,
  patch: null,
  turns: null,
  duration_ms: null,
};

/** Null if nothing is known. */
export function sumKnown<T>(items: readonly T[], valueOf: (item: T) => number | null): number | null {
  const known = items.map(valueOf).filter((value) => value !== null);
  return known.length > 0 ? roundDollars(known.reduce((a, b) => a + b, 0)) : null;
}

export function taskCounts(results: readonly TaskResult[], skipped: number): TaskCounts {
  const completed = results.filter(({ status }) => status === 'completed').length;
  const pending = results.filter(
    ({ status }) => status === 'pending' || status === 'approval_required',
  ).length;
  const failed = results.length - completed - pending;
  return { total: results.length, completed, failed, pending, skipped };
}
