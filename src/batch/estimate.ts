import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { attempt as attemptTo } from '../lib/attempt.js';
import { formatDuration } from '../lib/duration.js';
import { formatDollars, roundDollars } from '../lib/money.js';
import { count, formatNumber } from '../lib/text.js';
import { FolderPaths } from './folder.js';
import { foldJournal } from './history.js';
import type { TaskEndEvent } from './journal/event.js';
import { readJournal } from './journal/reader.js';
import { openBatch } from './open.js';
import { planAll } from './plan-all.js';
import type { BatchRequest } from './request.js';

/** What half of the tasks needed at most, and what nine out of ten did. */
export interface Spread {
  readonly median: number;
  readonly p90: number;
}

type Measure = 'cost_usd' | 'tokens' | 'duration_ms';

export interface Estimate {
  readonly type: 'batch_estimate';
  readonly name: string;
  readonly tasks: { readonly total: number; readonly to_run: number; readonly skipped: number };
  /** How many finished tasks it is based on, and from which batches. */
  readonly sample: { readonly tasks: number; readonly from: 'this batch' | 'this and other batches' };
  /** Null if nothing is known. */
  readonly per_task: Readonly<Record<Measure, Spread | null>>;
  /** Of all tasks that would run; the time is that of the whole batch. */
  readonly total: Readonly<Record<Measure, Spread | null>>;
}

/** With this many finished tasks of its own, those of other batches do not count. */
const ENOUGH = 5;

/** Estimates a batch from what tasks took before. Sends nothing, and writes nothing. */
export async function estimateBatch(request: BatchRequest): Promise<Estimate> {
  const batch = await openBatch(request);
  const { paths, spec, tasks, concurrency } = batch;
  const history = foldJournal(readJournal(paths.journal).lines);
  const plan = planAll(batch, history, request).filter(({ isSelected }) => isSelected);
  const toRun = plan.filter(({ step }) => step.type === 'start' || step.type === 'resume').length;
  const own = finishedIn(paths.root);
  const all = own.length >= ENOUGH ? own : [...own, ...others(paths.root).flatMap(finishedIn)];
  const perTask = {
    cost_usd: spreadOf(all.flatMap(({ cost_usd }) => cost_usd ?? [])),
    tokens: spreadOf(all.flatMap(({ tokens: used }) => used ?? [])),
    duration_ms: spreadOf(all.map(({ duration_ms }) => duration_ms)),
  };
  return {
    type: 'batch_estimate',
    name: spec.name,
    tasks: {
      total: tasks.length,
      to_run: toRun,
      skipped: plan.filter(({ step }) => step.type === 'skip').length,
    },
    sample: { tasks: all.length, from: all === own ? 'this batch' : 'this and other batches' },
    per_task: perTask,
    total: {
      cost_usd: times(perTask.cost_usd, toRun),
      tokens: times(perTask.tokens, toRun),
      duration_ms: times(perTask.duration_ms, Math.ceil(toRun / concurrency)),
    },
  };
}

/** The ends of a batch's attempts that tell what a task takes. */
function finishedIn(folder: string): TaskEndEvent[] {
  const paths = new FolderPaths(folder);
  const lines = attemptTo(() => readJournal(paths.journal).lines) ?? [];
  const attempts = [...foldJournal(lines).values()].flat();
  return attempts.flatMap(({ end }) => (end?.ended && end.turns > 0 ? [end] : []));
}

/** The folders of other batches next to this one. */
function others(folder: string): string[] {
  const above = dirname(folder);
  const names = attemptTo(() => readdirSync(above)) ?? [];
  return names
    .map((name) => join(above, name))
    .filter((path) => path !== folder && existsSync(new FolderPaths(path).record));
}

function spreadOf(values: readonly number[]): Spread | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] as number;
  return { median: at(0.5), p90: at(0.9) };
}

function times(spread: Spread | null, n: number): Spread | null {
  if (!spread) return null;
  const scaled = (value: number) => roundDollars(value * n);
  return { median: scaled(spread.median), p90: scaled(spread.p90) };
}

/** An estimate for people. */
export function estimateLines({ tasks, sample, total }: Estimate): string[] {
  const counts = `${count(tasks.total, 'task')}: ${tasks.to_run} to run, ${tasks.skipped} done already`;
  if (sample.tasks === 0) return [counts, 'no data: no task has finished yet'];
  const line = (name: string, spread: Spread | null, show: (value: number) => string) =>
    `${name}: ${spread ? `${show(spread.median)}, ${show(spread.p90)} if all cost as much as the top tenth` : 'no data'}`;
  return [
    counts,
    line('cost', total.cost_usd, formatDollars),
    line('tokens', total.tokens, (value) => formatNumber(Math.round(value))),
    line('time', total.duration_ms, formatDuration),
    `from ${count(sample.tasks, 'finished task')} of ${sample.from}`,
  ];
}
