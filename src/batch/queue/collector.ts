import type { Dispatch, Settled, Started } from '../../fleet/dispatch.js';
import { jobName, MAX_TAKES } from '../../fleet/job.js';
import type { Store } from '../../fleet/store.js';
import { errorMessage } from '../../lib/errors.js';
import { pLimit } from '../../lib/limit.js';
import { orAbort } from '../../lib/or-abort.js';
import { formatSize } from '../../lib/size.js';
import { count, oneLine } from '../../lib/text.js';
import { configProblem, Problem } from '../../protocol/problem.js';
import { problemEnd } from '../attempt.js';
import type { PlannedRun } from '../executor.js';
import type { History } from '../history.js';
import type { BatchEvent, TaskEndEvent } from '../journal/event.js';
import type { BatchTask } from '../prepare.js';
import { collect, type Sent } from './collect.js';
import { jobOf, type JobFacts } from './header.js';

export interface CollectorSettings {
  readonly dispatch: Dispatch;
  readonly store: Store;
  readonly facts: JobFacts;
  /** The folder of the batch. */
  readonly folder: string;
  readonly history: History;
  readonly emit: (event: BatchEvent) => void;
  /** Throws if a task may not have this patch. */
  readonly checked: Sent['checked'];
  /** Whether nothing new may start, as far as this process knows. */
  readonly isHalted: () => boolean;
  /** Gets the state of the batch from the server. */
  readonly refresh: () => Promise<void>;
}

/** One task on its way through the queue. */
interface Journey {
  readonly task: BatchTask;
  readonly step: PlannedRun['step'];
  /** The number of the attempt that its job begins with. */
  readonly number: number;
  /** The last attempt that began. */
  last: number | undefined;
}

const COLLECT_AT_ONCE = 4;
/** How often a task is put in again if the server lost it before a worker began. */
const MAX_LOST = 5;
/** How many reasons of workers that do not take a task are quoted. */
const MAX_REASONS = 20;

/** Follows tasks through the queue, and records their results in the folder and the journal. */
export class Collector {
  readonly #settings: CollectorSettings;
  readonly #collecting = pLimit(COLLECT_AT_ONCE);
  /** Attempts whose start is in the journal, and those whose end is. */
  readonly #begun = new Set<string>();
  readonly #ended = new Set<string>();
  waitedMs = 0;

  constructor(settings: CollectorSettings) {
    this.#settings = settings;
    for (const [id, attempts] of settings.history)
      for (const { number, end } of attempts) {
        this.#begun.add(`${number} ${id}`);
        if (end) this.#ended.add(`${number} ${id}`);
      }
  }

  /** One attempt from start to end; both go to the journal. */
  async see({ task, step }: PlannedRun, signal: AbortSignal): Promise<TaskEndEvent> {
    const { dispatch, isHalted, facts } = this.#settings;
    let number = step.type === 'resume' ? step.next : step.number;
    let known = await orAbort(this.#known(task, number), signal);
    for (let lost = 0; ;) {
      if (isHalted()) return pendingEnd(task);
      const journey: Journey = { task, step, number: known ?? number, last: undefined };
      const job = known === undefined ? jobOf(task, number, facts) : undefined;
      const onStart = (started: Started) => this.#begin(journey, started);
      const settled = await dispatch.settled(this.#nameOf(journey), onStart, signal, job);
      const end = await this.#collecting(() => this.#take(journey, settled, lost));
      if (end === 'open') return pendingEnd(task);
      if (end === 'again') lost++;
      // What an earlier start called off continues now.
      else if (known === undefined || end.ended || isHalted()) return end;
      number = end === 'again' ? journey.number : end.attempt + 1;
      known = undefined;
      await dispatch.renew();
    }
  }

  /** The number of a job that was in progress while this process was away. */
  async #known(task: BatchTask, next: number): Promise<number | undefined> {
    const { dispatch } = this.#settings;
    for (let number = next - 1; number >= 1; number--) {
      const name = this.#nameOf({ task, number });
      if (!(await dispatch.has(name))) continue;
      if (!this.#ended.has(`${next - 1} ${task.id}`)) return number;
      await dispatch.forget(name);
    }
    return undefined;
  }

  #nameOf({ task, number }: Pick<Journey, 'task' | 'number'>): string {
    return jobName({ batch: this.#settings.facts.batch, key: task.key, attempt: number, id: task.id });
  }

  #begin(journey: Journey, { attempt, worker }: Started): void {
    const { task, step, number } = journey;
    // Invented numbers are ignored.
    if (attempt < number || attempt >= number + MAX_TAKES) return;
    journey.last = Math.max(attempt, journey.last ?? 0);
    const mark = `${attempt} ${task.id}`;
    if (this.#begun.has(mark)) return;
    this.#begun.add(mark);
    const { id, key, parts, name } = task;
    const transcript = `tasks/${name}/${attempt}/transcript.jsonl`;
    const { why, fresh, run } = step.type === 'start' ? step : { run: step.attempt.run };
    this.#settings.emit({
      type: 'task_start',
      ...{ id, key, parts, attempt, resumed: false, transcript, worker },
      ...(run !== undefined && { run }),
      ...(why !== undefined && { why }),
      ...(fresh && { fresh }),
    });
  }

  /** Handles the end of a job: once it is in the journal, the queue may forget it. */
  async #take(journey: Journey, settled: Settled, lost: number): Promise<TaskEndEvent | 'again' | 'open'> {
    switch (settled.type) {
      case 'withdrawn':
        return 'open';
      case 'lost':
        if (journey.last === undefined && lost < MAX_LOST) return 'again';
        return this.#fail(journey, infraProblem('the queue server has lost it'));
      case 'failed':
        return this.#fail(journey, infraProblem(`its workers have failed: ${oneLine(settled.message, 500)}`));
      case 'done':
        return this.#takeNote(journey, settled.note);
      default:
        return settled satisfies never;
    }
  }

  async #takeNote(journey: Journey, said: unknown): Promise<TaskEndEvent | 'open'> {
    const { refused, open } = (said ?? {}) as { refused?: unknown; open?: unknown };
    const { task } = journey;
    if (Array.isArray(refused)) {
      const reasons = refused
        .slice(0, MAX_REASONS)
        .map((reason) => oneLine(String(reason), 500))
        .join('; ');
      return this.#fail(journey, configProblem('refused', `no worker takes ${task.id}: ${reasons}`));
    }
    if (open === true && (await this.#isOff())) {
      await this.#settings.dispatch.forget(this.#nameOf(journey));
      return 'open';
    }
    try {
      return await this.#collect(journey, said);
    } catch (error) {
      return this.#refuse(journey, errorMessage(error));
    }
  }

  /** Whether a worker is right that nothing of the batch may begin any more. */
  async #isOff(): Promise<boolean> {
    if (!this.#settings.isHalted()) await this.#settings.refresh();
    return this.#settings.isHalted();
  }

  async #collect(journey: Journey, said: unknown): Promise<TaskEndEvent> {
    const { dispatch, folder, emit, checked } = this.#settings;
    const { task, number, step } = journey;
    const name = this.#nameOf(journey);
    const { end, note } = await collect(dispatch, folder, { task, name, said, first: number, checked });
    const { run: _own, ...reported } = end;
    const { run } = step.type === 'start' ? step : step.attempt;
    const ended = { ...reported, ...(run !== undefined && { run }) };
    this.#begin(journey, note);
    if (note.left.files > 0) this.#notice(task, 'outputs_left_out', leftOut(note.left));
    emit(ended);
    this.#ended.add(`${end.attempt} ${task.id}`);
    this.waitedMs += end.waited_ms;
    await dispatch.forget(name, note);
    return ended;
  }

  /** For an unusable result: the attempt counts, so that this ends at some point. */
  async #refuse(journey: Journey, why: string): Promise<TaskEndEvent> {
    const { store, facts } = this.#settings;
    this.#notice(journey.task, 'result_refused', `a result was discarded: ${why}`);
    await store.late(facts.batch).catch(() => {});
    return this.#fail(journey, infraProblem(`its result was discarded: ${why}`));
  }

  /** Ends the last attempt that began, or would have begun. */
  async #fail(journey: Journey, problem: Problem): Promise<TaskEndEvent> {
    const { dispatch, emit } = this.#settings;
    const { task, step } = journey;
    const attempt = journey.last ?? journey.number;
    const { run } = step.type === 'start' ? step : step.attempt;
    const facts = { id: task.id, key: task.key, attempt, waited_ms: 0, requests: 0 };
    const end = problemEnd(problem, { ...facts, ...(run !== undefined && { run }) });
    this.#begin(journey, { attempt, worker: 'nobody' });
    emit(end);
    this.#ended.add(`${attempt} ${task.id}`);
    await dispatch.forget(this.#nameOf(journey));
    await dispatch.renew();
    return end;
  }

  #notice(task: BatchTask, code: string, message: string): void {
    this.#settings.emit({ type: 'batch_notice', level: 'warning', code, message, task: task.id });
  }
}

function infraProblem(message: string): Problem {
  return new Problem('tool_infra_error', 'worker', message);
}

function leftOut({ files, bytes }: { files: number; bytes: number }): string {
  return `not transferred: ${count(files, 'stored output')} (${formatSize(bytes)}); results carry no more`;
}

/** A task that continues another time: the journal says nothing about it. */
export function pendingEnd({ id, key }: BatchTask): TaskEndEvent {
  const problem = new Problem('cancelled', 'batch_paused', 'the batch was stopped');
  return { ...problemEnd(problem, { id, key, attempt: 0, waited_ms: 0, requests: 0 }), ended: false };
}
