import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { Dispatch, type Settled, type Started } from '../../fleet/dispatch.js';
import { Fleet } from '../../fleet/fleet.js';
import { jobName } from '../../fleet/job.js';
import type { BatchState } from '../../fleet/store.js';
import { errorMessage } from '../../lib/errors.js';
import { pLimit } from '../../lib/limit.js';
import { orAbort } from '../../lib/or-abort.js';
import { pause } from '../../lib/pause.js';
import { realPath } from '../../lib/real-path.js';
import { formatSize } from '../../lib/size.js';
import { count } from '../../lib/text.js';
import { configProblem, Problem } from '../../protocol/problem.js';
import { problemEnd } from '../attempt.js';
import type { Executor, PlannedRun } from '../executor.js';
import type { BatchRecord } from '../folder.js';
import { limitHalt, quotaHalt, type Halt } from '../halt.js';
import type { History } from '../history.js';
import type { BatchEvent, TaskEndEvent } from '../journal/event.js';
import type { Spending } from '../ledger.js';
import type { OpenedBatch } from '../open.js';
import type { BatchTask } from '../prepare.js';
import type { BatchRequest } from '../request.js';
import { collect } from './collect.js';
import { headerOf, jobOf, type JobFacts } from './header.js';
import { readWorkerHalt, workerHalt } from './worker-halt.js';

export interface CoordinatorSettings {
  readonly batch: OpenedBatch;
  readonly record: BatchRecord;
  readonly request: BatchRequest;
  readonly history: History;
  /** By earlier starts. */
  readonly spent: Spending;
  readonly emit: (event: BatchEvent) => void;
  readonly onHalt: (halt: Halt) => void;
}

/** Connects to the queue of a batch, and claims the batch. Throws a Problem if either is not possible. */
export async function openCoordinator(settings: CoordinatorSettings): Promise<Coordinator> {
  const { queue, log } = settings.request;
  if (!queue) throw new Error('there is no queue');
  const fleet = await Fleet.open(queue.address, log);
  try {
    return await Coordinator.open({ ...settings, fleet });
  } catch (error) {
    await fleet.close();
    throw error;
  }
}

interface OpenSettings extends CoordinatorSettings {
  readonly fleet: Fleet;
}

const CLAIM_MS = 30_000;
const POLL_MS = 2000;
const COLLECT_AT_ONCE = 4;

/** Lets workers elsewhere run the tasks: puts them into a queue, and collects what comes back. */
export class Coordinator implements Executor {
  readonly #settings: OpenSettings;
  readonly #dispatch: Dispatch;
  readonly #holder = randomBytes(8).toString('hex');
  readonly #collecting = pLimit(COLLECT_AT_ONCE);
  /** Attempts that the journal knows of, and those that it has the end of. */
  readonly #begun = new Set<string>();
  readonly #ended = new Set<string>();
  readonly #stop = new AbortController();
  #facts: JobFacts | undefined;
  #state: BatchState | undefined;
  #halt: Halt | undefined;
  #polling: Promise<void> = Promise.resolve();
  waitedMs = 0;

  private constructor(settings: OpenSettings) {
    this.#settings = settings;
    this.#dispatch = new Dispatch(settings.fleet, settings.record.batch_id);
    for (const [id, attempts] of settings.history)
      for (const { number, end } of attempts) {
        this.#begun.add(`${number} ${id}`);
        if (end) this.#ended.add(`${number} ${id}`);
      }
  }

  /** Throws a Problem if another process coordinates the batch already. */
  static async open(settings: OpenSettings): Promise<Coordinator> {
    const { fleet, batch, record, request } = settings;
    const coordinator = new Coordinator(settings);
    const header = headerOf(batch, record, request);
    coordinator.#state = await coordinator.#claim();
    await fleet.store.halt(record.batch_id, undefined);
    await coordinator.#dispatch.open();
    coordinator.#facts = {
      header: await coordinator.#dispatch.putHeader(header),
      batch: record.batch_id,
      untrusted: batch.spec.untrusted,
      redact: (text) => batch.facts.redactor.text(text),
      key: request.queue?.key,
    };
    coordinator.#polling = coordinator.#poll();
    return coordinator;
  }

  /** What all workers together have come to, as far as it is known. */
  get tally() {
    const { costUsd = 0, tokens = 0, requests = 0, rejected = 0, late = 0 } = this.#state ?? {};
    return { spent: { costUsd, tokens }, requests, rejected, lateResults: late, waitedMs: this.waitedMs };
  }

  begin(): boolean {
    return this.#halt === undefined;
  }

  halt(halt: Halt): void {
    this.#halt = halt;
    // Whoever tells this process to stop leaves the workers alone: they need nobody to finish what they have.
    if (halt.status === 'cancelled') return;
    void this.#callOff(halt).catch(() => {});
  }

  async #callOff(halt: Halt): Promise<void> {
    const { fleet, record } = this.#settings;
    if (halt.kind !== 'stop') await fleet.store.halt(record.batch_id, workerHalt(halt.reason, halt.message));
    await this.#dispatch.withdraw();
  }

  async attempt({ task, step }: PlannedRun, signal: AbortSignal): Promise<TaskEndEvent> {
    try {
      const number = step.type === 'resume' ? step.attempt.number + 1 : step.number;
      const why = step.type === 'start' ? step.why : undefined;
      return await this.#see(task, number, why, signal);
    } catch (error) {
      if (signal.aborted) return openEnd(task);
      throw error;
    }
  }

  async #see(
    task: BatchTask,
    first: number,
    why: string | undefined,
    signal: AbortSignal,
  ): Promise<TaskEndEvent> {
    let number = first;
    let known = await orAbort(this.#known(task, first), signal);
    for (;;) {
      if (this.#halt) return openEnd(task);
      const name = known ?? (await this.#put(task, number, signal));
      let last = number;
      const onStart = (started: Started) => {
        last = Math.max(last, started.attempt);
        this.#begin(task, started, why);
      };
      const settled = await this.#dispatch.settled(name, onStart, signal);
      const end = await this.#collecting(() =>
        this.#take(task, name, settled, { first: known ? 1 : first, why }),
      );
      if (end === 'withdrawn') return openEnd(task);
      // What an earlier start has called off goes on now; what nobody can use comes again.
      const isStale = end !== 'again' && known !== undefined && !end.ended && this.#halt === undefined;
      if (end !== 'again' && !isStale) return end;
      number = Math.max(last, end === 'again' ? 0 : end.attempt) + 1;
      known = undefined;
    }
  }

  /** The job of an attempt that was under way when this process was not there. */
  async #known(task: BatchTask, next: number): Promise<string | undefined> {
    for (let attempt = next - 1; attempt >= 1; attempt--) {
      const name = this.#jobName(task, attempt);
      if (!(await this.#dispatch.has(name))) continue;
      if (!this.#ended.has(`${next - 1} ${task.id}`)) return name;
      await this.#dispatch.forget(name);
    }
    return undefined;
  }

  #jobName({ key }: BatchTask, attempt: number): string {
    return jobName({ batch: this.#settings.record.batch_id, key, attempt });
  }

  async #put(task: BatchTask, attempt: number, signal: AbortSignal): Promise<string> {
    const job = jobOf(task, attempt, this.#facts as JobFacts);
    await orAbort(this.#dispatch.put(job), signal);
    return jobName(job);
  }

  #begin({ id, key, parts, name }: BatchTask, { attempt, worker }: Started, why: string | undefined): void {
    const mark = `${attempt} ${id}`;
    if (this.#begun.has(mark)) return;
    this.#begun.add(mark);
    const transcript = `tasks/${name}/${attempt}/transcript.jsonl`;
    this.#settings.emit({
      type: 'task_start',
      ...{ id, key, parts, attempt, resumed: false, transcript, worker },
      ...(why !== undefined && { why }),
    });
  }

  /** Takes what became of a job: once it is in the journal, the queue may forget it. */
  async #take(
    task: BatchTask,
    name: string,
    settled: Settled,
    { first, why }: { first: number; why: string | undefined },
  ): Promise<TaskEndEvent | 'again' | 'withdrawn'> {
    const { batch, emit } = this.#settings;
    if (settled.type === 'withdrawn') return 'withdrawn';
    if (settled.type === 'lost') return 'again';
    const noted = settled.type === 'done' ? refusedIn(settled.note) : undefined;
    if (settled.type === 'failed' || noted) {
      const problem = noted
        ? configProblem('refused', `no worker takes ${task.id}: ${noted.join('; ')}`)
        : new Problem(
            'tool_infra_error',
            'worker',
            `its workers have failed: ${(settled as { message: string }).message}`,
          );
      const end = problemEnd(problem, {
        id: task.id,
        key: task.key,
        attempt: first,
        waited_ms: 0,
        requests: 0,
      });
      this.#begin(task, { attempt: first, worker: 'nobody' }, why);
      emit(end);
      await this.#dispatch.forget(name);
      return end;
    }
    if (settled.type !== 'done') throw new Error('unreachable');
    try {
      const { end, note } = await collect(this.#dispatch, batch.paths.root, {
        task,
        name,
        said: settled.note,
        first,
      });
      this.#begin(task, { attempt: note.attempt, worker: note.worker }, why);
      if (note.left.files > 0) this.#notice(task, 'outputs_left_out', leftOut(note.left));
      emit(end);
      this.#ended.add(`${end.attempt} ${task.id}`);
      this.waitedMs += end.waited_ms;
      await this.#dispatch.forget(name, note);
      return end;
    } catch (error) {
      this.#notice(task, 'result_refused', `a result was thrown away: ${errorMessage(error)}`);
      await this.#settings.fleet.store.late(this.#settings.record.batch_id);
      await this.#dispatch.forget(name);
      return 'again';
    }
  }

  #notice(task: BatchTask, code: string, message: string): void {
    this.#settings.emit({ type: 'batch_notice', level: 'warning', code, message, task: task.id });
  }

  async #claim(): Promise<BatchState> {
    const { fleet, record, batch, spent } = this.#settings;
    const { limits, rate } = batch.spec;
    const claimed = await fleet.store.claim(
      record.batch_id,
      { holder: this.#holder, place: `${hostname()}:${realPath(batch.paths.root)}`, forMs: CLAIM_MS },
      {
        ...{ name: record.name, total: record.tasks.length, spent },
        ...(limits.costUsd !== undefined && { costUsd: limits.costUsd }),
        ...(limits.tokens !== undefined && { tokens: limits.tokens }),
        ...rate,
      },
    );
    if (claimed.type === 'granted') return claimed.state;
    throw configProblem('batch_busy', `another process coordinates the batch ${record.name}: ${claimed.by}`, {
      hint: `Wait until it has ended; a dead one counts for ${CLAIM_MS / 1000} seconds.`,
    });
  }

  /** Says that it is still there, and hears what the workers have come to. */
  async #poll(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await pause(POLL_MS, signal);
      if (signal.aborted) return;
      try {
        this.#state = await this.#claim();
        this.#look(this.#state);
        if (this.#halt && this.#halt.status !== 'cancelled') await this.#dispatch.withdraw();
      } catch (error) {
        if (!(error instanceof Problem)) continue;
        const { status, code, message } = error;
        this.#settings.onHalt({ kind: 'stop', status, exitCode: 2, reason: code, message });
      }
    }
  }

  #look({ costUsd, tokens, limitUsd = Infinity, limitTokens = Infinity, halt }: BatchState): void {
    if (this.#halt) return;
    const { onHalt } = this.#settings;
    const used = (what: string) => `the budget of the batch is used up: ${what}`;
    if (costUsd >= limitUsd) onHalt(limitHalt('cost', used(`$${costUsd.toFixed(4)}`)));
    else if (tokens >= limitTokens) onHalt(limitHalt('tokens', used(`${tokens} tokens`)));
    const quota = halt === undefined ? undefined : readWorkerHalt(halt);
    if (quota?.model !== undefined) onHalt(quotaHalt(quota.model, quota.resetMs));
  }

  /** `isOver`: every task has ended, and nothing of the batch has to stay on the server. */
  async close(isOver: boolean): Promise<void> {
    const { fleet, record } = this.#settings;
    this.#stop.abort();
    await this.#polling;
    this.#state = (await fleet.store.state(record.batch_id).catch(() => undefined)) ?? this.#state;
    await this.#dispatch.close(isOver);
    await fleet.store.leave(record.batch_id, this.#holder, isOver).catch(() => {});
    await fleet.close();
  }
}

function refusedIn(note: unknown): readonly string[] | undefined {
  const refused = (note as { refused?: unknown } | null)?.refused;
  return Array.isArray(refused) ? refused.map((reason) => String(reason).slice(0, 500)) : undefined;
}

function leftOut({ files, bytes }: { files: number; bytes: number }): string {
  return `${count(files, 'stored output')} (${formatSize(bytes)}) stayed behind: results carry no more`;
}

/** A task that goes on at another time: the journal says nothing of it. */
function openEnd({ id, key }: BatchTask): TaskEndEvent {
  const problem = new Problem('cancelled', 'batch_paused', 'the batch was stopped');
  return { ...problemEnd(problem, { id, key, attempt: 0, waited_ms: 0, requests: 0 }), ended: false };
}
