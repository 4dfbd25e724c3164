import { join } from 'node:path';
import { EXIT_CODES, TASKS_FAILED } from '../protocol/outcome.js';
import { count } from '../lib/text.js';
import type { Halt } from './halt.js';
import { STABILITIES, type BatchResultEvent, type Stability, type TaskResult } from './journal/event.js';
import { journalCharge, type Charge } from './charge.js';
import { taskCounts } from './results.js';
import { roundDollars } from '../lib/money.js';

export interface EndingFacts {
  readonly halt: Halt | undefined;
  readonly results: readonly TaskResult[];
  /** Only these count for the exit code. */
  readonly isSelected: (id: string) => boolean;
  readonly skipped: number;
  readonly charge: Charge;
  readonly requests: number;
  readonly rejected: number;
  readonly lateResults?: number;
  readonly waitedMs: number;
  readonly durationMs: number;
  /** Where the batch is kept. */
  readonly folder: string;
  /** The command that continues it. */
  readonly command: string;
}

/** How a batch ended: one exit code for all of its tasks. */
export function endingOf(facts: EndingFacts): BatchResultEvent {
  const { halt, results } = facts;
  const { known: spent, estimated } = facts.charge;
  const tasks = taskCounts(results, facts.skipped);
  const { status, exit_code, reason, message } = batchOutcome(facts);
  const isOver = exit_code === 0 || exit_code === TASKS_FAILED.exitCode;
  const isKnown = results.some(({ cost_usd }) => cost_usd !== null);
  return {
    type: 'batch_result',
    ...{ status, exit_code, reason, message, tasks },
    ...stabilityOf(results),
    cost_usd: isKnown || spent.costUsd > 0 ? roundDollars(spent.costUsd) : null,
    tokens: spent.tokens > 0 || results.some(({ tokens }) => tokens !== null) ? spent.tokens : null,
    ...(estimated.tokens > 0 && { estimated: journalCharge(estimated) }),
    requests: facts.requests,
    rejected: facts.rejected,
    late_results: facts.lateResults ?? 0,
    waited_ms: Math.round(facts.waitedMs),
    duration_ms: Math.round(facts.durationMs),
    reset_at: halt?.resetAt?.toISOString() ?? null,
    continue: isOver ? null : facts.command,
  };
}

/** Only if tasks are repeated. */
export function stabilityOf(results: readonly TaskResult[]): Pick<BatchResultEvent, 'stability'> {
  if (!results.some(({ runs }) => runs)) return {};
  const countOf = (stability: Stability) => results.filter((one) => one.stability === stability).length;
  const counts = STABILITIES.map((one) => [one, countOf(one)] as const);
  return { stability: Object.fromEntries(counts) as Record<Stability, number> };
}

type End = Pick<BatchResultEvent, 'status' | 'exit_code' | 'reason' | 'message'>;

export function batchOutcome({
  halt,
  results,
  isSelected,
  folder,
}: Pick<EndingFacts, 'halt' | 'results' | 'isSelected' | 'folder'>): End {
  const own = results.filter(({ id }) => isSelected(id));
  const { total, completed, failed, pending } = taskCounts(own, 0);
  const isDone = pending === 0;
  // If nothing was left to start, it does not matter what would have prevented that.
  const isMoot = isDone && halt?.kind !== 'cancel' && halt?.reason !== 'failed';
  if (halt && !isMoot)
    return { status: halt.status, exit_code: halt.exitCode, reason: halt.reason, message: halt.message };
  const asking = own.filter(({ status }) => status === 'approval_required');
  const waiting = asking.length;
  if (waiting > 0 && waiting === pending)
    return {
      status: 'approval_required',
      exit_code: EXIT_CODES.approval_required,
      reason: 'approval_required',
      message: `${waiting === 1 ? '1 task waits' : `${waiting} tasks wait`} for an approval: answer with bosun approve ${join(folder, asking[0]?.transcript ?? '')}`,
    };
  if (failed > 0 || pending > 0)
    return {
      status: TASKS_FAILED.status,
      exit_code: TASKS_FAILED.exitCode,
      reason: null,
      message: `${failed} of ${count(total, 'task')} failed`,
    };
  return {
    status: 'completed',
    exit_code: 0,
    reason: null,
    message: `${count(completed, 'task')} completed`,
  };
}
