import { statSync } from 'node:fs';
import { join } from 'node:path';
import { attempt as attemptTo } from '../lib/attempt.js';
import { globMatcher, nameMatcher } from '../lib/glob.js';
import { oneLine } from '../lib/text.js';
import { readTranscript } from '../transcript/reader.js';
import { finishedResult } from './finished.js';
import type { History } from './history.js';
import type { OpenedBatch } from './open.js';
import { planTask, type PlanSettings, type Step } from './plan.js';
import type { BatchTask } from './prepare.js';
import type { BatchRequest } from './request.js';
import { batchProblem } from './spec.js';

/** A task, and what to do with it. */
export interface Planned {
  readonly task: BatchTask;
  readonly step: Step;
  /** Whether this start selects it. */
  readonly isSelected: boolean;
}

/** What to do with every task. It is an error if `--only` selects none. */
export function planAll(batch: OpenedBatch, history: History, request: BatchRequest): Planned[] {
  const { tasks } = batch;
  const { only, redo = [], retryFailed = false } = request;
  const isMeant = only ? idMatcher(only) : () => true;
  const isRedone = idMatcher(redo);
  if (only && !tasks.some(({ id }) => isMeant(id)))
    throw batchProblem(`no task matches --only ${only.join(', ')}`, idHint(tasks));
  if (redo.length > 0 && !tasks.some(({ id }) => isRedone(id)))
    throw batchProblem(`no task matches --redo ${redo.join(', ')}`, idHint(tasks));
  return tasks.map((task) => {
    const settings = { ...planSettings(batch, task), retryFailed, isRedone };
    const step = planTask(task, history.get(task.id) ?? [], settings);
    return { task, step, isSelected: isMeant(task.id) };
  });
}

/** Ids are often paths. A pattern without a slash matches the whole id, so that `*` means all of them. */
function idMatcher(patterns: readonly string[]): (id: string) => boolean {
  const asPath = globMatcher(patterns);
  const asName = patterns
    .filter((one) => !one.includes('/'))
    .map((one) => nameMatcher(one, { ignoreCase: false }));
  return (id) => asPath(id) || asName.some((matches) => matches(id));
}

function idHint([first]: readonly BatchTask[]): string {
  return `It takes globs of ids${first ? `, such as ${oneLine(first.id, 60)}` : ''}.`;
}

/** What to do with a task that has just ended. */
export function planNext(batch: OpenedBatch, task: BatchTask, history: History): Step {
  return planTask(task, history.get(task.id) ?? [], planSettings(batch, task));
}

function planSettings({ spec, paths }: OpenedBatch, task: BatchTask): PlanSettings {
  const { attempts, retryOn, repeat } = spec;
  const sizeOf = (name: string) => statSync(join(paths.root, name), { throwIfNoEntry: false })?.size ?? 0;
  return {
    ...{ attempts, retryOn, repeat },
    retryFailed: false,
    isRedone: () => false,
    canResume: ({ transcript, workspace }) =>
      sizeOf(transcript) > 0 &&
      (task.source === undefined ||
        (workspace !== undefined && sizeOf(workspace) > 0) ||
        finishedResult(join(paths.root, transcript)) !== undefined),
    isUnbegun: ({ transcript }) => sizeOf(transcript) === 0,
    isAnswered: ({ transcript }) => isAnswered(join(paths.root, transcript)),
  };
}

/** Whether `bosun approve` has answered all waiting calls. */
function isAnswered(transcript: string): boolean {
  return attemptTo(() => readTranscript(transcript))?.result?.reason === 'answered';
}
