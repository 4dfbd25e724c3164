import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Admit } from '../protocol/admission.js';
import { Problem } from '../protocol/problem.js';
import { cutEnd, taskEndOf, problemEnd, runAttempt, type AttemptSettings } from './attempt.js';
import { NOTHING, journalCharge, type Spending } from './charge.js';
import type { PlannedRun } from './executor.js';
import { finishedResult } from './finished.js';
import type { BatchEvent, TaskEndEvent } from './journal/event.js';
import type { BatchReporter } from './reporter.js';
import { lineHash, withSeal } from './seal.js';
import type { TakenWorkspace, WorkspacePool } from './workspaces/pool.js';

/** The requests of one attempt, added up. */
export interface RequestTally {
  requests: number;
  waitedMs: number;
  /** Of the whole attempt so far. */
  estimated: Spending;
}

export interface AttemptRunnerSettings {
  readonly attempt: AttemptSettings;
  /** Where all tasks work, if they have no clones. */
  readonly workspace: string;
  readonly pool: WorkspacePool | undefined;
  /** Resolves when the journal is flushed. */
  readonly emit: (event: BatchEvent) => Promise<void>;
  readonly reporters: readonly BatchReporter[];
  /** What admits the requests of a task. */
  readonly admitFor: (id: string, tally: RequestTally) => Admit;
}

/** Runs attempts in this process. */
export class AttemptRunner {
  readonly #settings: AttemptRunnerSettings;

  constructor(settings: AttemptRunnerSettings) {
    this.#settings = settings;
  }

  /** One attempt from start to end; both go to the journal. */
  async attempt(planned: PlannedRun, signal: AbortSignal): Promise<TaskEndEvent> {
    const { task, step } = planned;
    const { emit, attempt: settings, reporters } = this.#settings;
    const { number, run } = step.type === 'resume' ? step.attempt : step;
    const transcript = `tasks/${task.name}/${number}/transcript.jsonl`;
    const taskReporters = reporters.filter((reporter) => reporter.task);
    const reporter = {
      event: (line: Parameters<NonNullable<BatchReporter['task']>>[1]) => {
        if (line.type === 'result') head = lineHash(line);
        taskReporters.forEach((one) => one.task?.(task.id, line));
      },
    };
    let head: string | undefined;
    const tally: RequestTally = { requests: 0, waitedMs: 0, estimated: estimatedBefore(planned) };
    const facts = () => attemptFacts({ task, number, run }, tally);
    const start = (workspace: TakenWorkspace | undefined) => {
      const { why, fresh } = step.type === 'start' ? step : {};
      return emit({
        type: 'task_start',
        ...{ id: task.id, key: task.key, parts: task.parts, attempt: number, transcript },
        ...(run !== undefined && { run }),
        resumed: step.type === 'resume',
        ...(workspace && { workspace: workspace.name }),
        ...(why !== undefined && { why }),
        ...(fresh && { fresh }),
      });
    };
    let place: TakenWorkspace | undefined;
    let end: TaskEndEvent;
    const finished = step.type === 'resume' && finishedResult(join(settings.folder, transcript));
    try {
      if (finished) {
        place = this.#foundFor(planned);
        await start(place);
        end = await withSeal(settings.folder, taskEndOf(finished, facts(), settings.folder));
      } else {
        place = await this.#placeFor(planned, number, start, signal);
        const admit = this.#settings.admitFor(task.id, tally);
        const workspace = place?.path ?? this.#settings.workspace;
        const resumed = step.type === 'resume';
        const request = { task, number, transcript, workspace, resumed, admit, signal, reporter };
        const result = await runAttempt(settings, request);
        end = await withSeal(settings.folder, taskEndOf(result, facts(), settings.folder), head);
      }
    } catch (error) {
      if (signal.aborted) end = cutEnd(signal.reason, facts());
      else if (step.type === 'resume' && error instanceof Problem)
        return this.#fromScratch(planned, error, signal);
      else end = problemEnd(error, facts());
    }
    await emit(end);
    if (place && end.ended && end.status !== 'approval_required') this.#settings.pool?.giveBack(place);
    return end;
  }

  /** What cannot be resumed begins again, in a new attempt. */
  async #fromScratch(
    { task, step }: PlannedRun,
    problem: Problem,
    signal: AbortSignal,
  ): Promise<TaskEndEvent> {
    const { emit } = this.#settings;
    const { run } = step.type === 'resume' ? step.attempt : step;
    await emit({
      type: 'batch_notice',
      level: 'warning',
      code: 'not_resumed',
      message: problem.message,
      task: task.id,
    });
    const number = step.type === 'resume' ? step.next : step.number + 1;
    const again = { type: 'start', number, tries: step.tries } as const;
    const same = run !== undefined && { run };
    return this.attempt({ task, step: { ...again, ...same, why: 'it could not be resumed' } }, signal);
  }

  /** The clone for an attempt; undefined if all share the workspace. The journal gets it first. */
  async #placeFor(
    { task, step }: PlannedRun,
    number: number,
    start: (workspace: TakenWorkspace | undefined) => Promise<void>,
    signal: AbortSignal,
  ): Promise<TakenWorkspace | undefined> {
    const { pool } = this.#settings;
    if (!pool || !task.source) {
      await start(undefined);
      return undefined;
    }
    const owner = { id: task.id, attempt: number };
    if (step.type === 'resume') {
      const found = this.#foundFor({ task, step });
      if (!found) throw new Problem('config_error', 'workspace', `the workspace of ${task.id} is gone`);
      await start(found);
      return found;
    }
    const place = await pool.take(owner, task.source, signal).catch(async (error: unknown) => {
      await start(undefined);
      throw error;
    });
    await start(place);
    await pool.prepare(owner, place, task.source, signal);
    if (!existsSync(join(place.path)))
      throw new Problem('tool_infra_error', 'workspace', `${place.path} is gone`);
    return place;
  }

  /** The clone in which an attempt continues, if it is still there. */
  #foundFor({ task, step }: PlannedRun): TakenWorkspace | undefined {
    if (step.type !== 'resume' || !task.source) return undefined;
    const { number, workspace = '' } = step.attempt;
    return this.#settings.pool?.find({ id: task.id, attempt: number }, workspace, task.source);
  }
}

interface Numbered extends Pick<PlannedRun, 'task'> {
  readonly number: number;
  readonly run: number | undefined;
}

/** What the journal says of an attempt, however it ended. */
function attemptFacts({ task, number, run }: Numbered, { waitedMs, requests, estimated }: RequestTally) {
  return {
    id: task.id,
    key: task.key,
    attempt: number,
    ...(run !== undefined && { run }),
    waited_ms: Math.round(waitedMs),
    requests,
    ...(estimated.tokens > 0 && { estimated: journalCharge(estimated) }),
  };
}

function estimatedBefore({ spent }: PlannedRun): Spending {
  return spent?.estimated ?? NOTHING;
}
