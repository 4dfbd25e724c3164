import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Admit, Permit, Refusal } from '../protocol/admission.js';
import { failure, type Status } from '../protocol/outcome.js';
import { Problem } from '../protocol/problem.js';
import { endOf, problemEnd, runAttempt, type AttemptSettings } from './attempt.js';
import type { Gate } from './gate/gate.js';
import { haltBy, limitHalt, weightier, type Halt } from './halt.js';
import type { BatchEvent, TaskEndEvent } from './journal/event.js';
import type { Ledger, Spending } from './ledger.js';
import type { Step } from './plan.js';
import type { BatchTask } from './prepare.js';
import type { BatchReporter } from './reporter.js';
import { TaskQueue } from './task-queue.js';
import type { TakenWorkspace, WorkspacePool } from './workspaces/pool.js';

/** A task that is to run now. */
export interface PlannedRun {
  readonly task: BatchTask;
  readonly step: Extract<Step, { type: 'start' | 'resume' }>;
  /** What it has spent already in the attempt that goes on. */
  readonly spent?: Spending;
}

export interface ConductSettings {
  readonly concurrency: number;
  readonly attempts: number;
  readonly retryOn: readonly Status[];
  /** How many tasks may fail; undefined: all. */
  readonly maxFailed: number | undefined;
  readonly attempt: AttemptSettings;
  /** Where all tasks work together, if they have no clones. */
  readonly workspace: string;
  readonly pool: WorkspacePool | undefined;
  readonly gate: Gate;
  readonly ledger: Ledger;
  readonly emit: (event: BatchEvent) => void;
  readonly reporters: readonly BatchReporter[];
}

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;

/** Runs tasks side by side until none is left, or something says that no more may start. */
export class Conductor {
  readonly #settings: ConductSettings;
  readonly #running = new Map<string, AbortController>();
  #queue: TaskQueue<PlannedRun> = new TaskQueue([]);
  #halt: Halt | undefined;
  #failed = 0;
  waitedMs = 0;

  /** Why nothing starts any more, if so. */
  get halted(): Halt | undefined {
    return this.#halt;
  }

  constructor(settings: ConductSettings) {
    this.#settings = settings;
  }

  /** Resolves with what kept it from running all of them, if something did. */
  async run(runs: readonly PlannedRun[]): Promise<Halt | undefined> {
    const { concurrency, ledger } = this.#settings;
    this.#queue = new TaskQueue(runs);
    if (this.#halt) this.#queue.close();
    const begin = ({ task, spent }: PlannedRun) => {
      this.#checkLedger();
      const may = this.#halt === undefined && ledger.mayBegin();
      if (may) ledger.begin(task.id, spent);
      return may;
    };
    const work = async () => {
      for (let next = await this.#queue.take(begin); next; next = await this.#queue.take(begin))
        this.#queue.done(await this.#see(next));
    };
    await Promise.all(Array.from({ length: Math.min(concurrency, runs.length) }, work));
    return this.#halt;
  }

  /** Lets nothing new start, and ends what runs as far as the reason asks for that. */
  halt(halt: Halt): void {
    this.#halt = weightier(this.#halt, halt);
    this.#queue.close();
    if (halt.kind === 'pause' || halt.kind === 'cancel') this.#settings.gate.close();
    if (halt.kind !== 'cancel') return;
    const outcome = halt.status === 'limit' ? cut(halt) : halt.reason;
    for (const controller of this.#running.values()) controller.abort(outcome);
  }

  /** One attempt from its start to its end; says whether the task comes again. */
  async #see(planned: PlannedRun): Promise<Parameters<TaskQueue<PlannedRun>['done']>[0]> {
    const { task, step } = planned;
    const { ledger, attempts, retryOn } = this.#settings;
    const controller = new AbortController();
    this.#running.set(task.id, controller);
    const end = await this.#attempt(planned, controller.signal);
    ledger.end(task.id, end.ended);
    this.#running.delete(task.id);
    const halt = haltBy(end);
    if (halt) this.halt(halt);
    if (!end.ended || end.status === 'completed' || end.status === 'approval_required') return undefined;
    if (retryOn.includes(end.status) && step.tries + 1 < attempts) {
      const waitMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** step.tries);
      const again = { type: 'start', number: end.attempt + 1, tries: step.tries + 1 } as const;
      return { task: { task, step: { ...again, why: `it ended with ${end.status}` } }, waitMs };
    }
    this.#failed++;
    const { maxFailed = Infinity } = this.#settings;
    if (this.#failed > maxFailed)
      this.halt(
        limitHalt('failed', `${this.#failed} tasks have failed, and limits.failed allows ${maxFailed}`),
      );
    return undefined;
  }

  async #attempt(planned: PlannedRun, signal: AbortSignal): Promise<TaskEndEvent> {
    const { task, step } = planned;
    const { emit, attempt: settings, reporters } = this.#settings;
    const number = step.type === 'resume' ? step.attempt.number : step.number;
    const transcript = `tasks/${task.name}/${number}/transcript.jsonl`;
    const told = reporters.filter((reporter) => reporter.task);
    const reporter = {
      event: (line: Parameters<NonNullable<BatchReporter['task']>>[1]) =>
        told.forEach((one) => one.task?.(task.id, line)),
    };
    const tally = { requests: 0, waitedMs: 0 };
    const facts = () => ({
      id: task.id,
      key: task.key,
      attempt: number,
      waited_ms: Math.round(tally.waitedMs),
      requests: tally.requests,
    });
    const start = (workspace: TakenWorkspace | undefined) => {
      const { why, fresh } = step.type === 'start' ? step : {};
      emit({
        type: 'task_start',
        ...{ id: task.id, key: task.key, parts: task.parts, attempt: number, transcript },
        resumed: step.type === 'resume',
        ...(workspace && { workspace: workspace.name }),
        ...(why !== undefined && { why }),
        ...(fresh && { fresh }),
      });
    };
    let place: TakenWorkspace | undefined;
    let end: TaskEndEvent;
    try {
      place = await this.#placeFor(planned, number, start);
      const admit = this.#admitFor(task.id, tally);
      const workspace = place?.path ?? this.#settings.workspace;
      const resumed = step.type === 'resume';
      const request = { task, number, transcript, workspace, resumed, admit, signal, reporter };
      end = endOf(await runAttempt(settings, request), facts(), settings.folder);
    } catch (error) {
      if (step.type === 'resume' && error instanceof Problem)
        return this.#fromScratch(planned, error, signal);
      end = problemEnd(error, facts());
    }
    emit(end);
    if (place && end.ended && end.status !== 'approval_required') this.#settings.pool?.giveBack(place);
    return end;
  }

  /** What cannot be resumed is begun again, in an attempt of its own. */
  #fromScratch({ task, step }: PlannedRun, problem: Problem, signal: AbortSignal): Promise<TaskEndEvent> {
    const { emit } = this.#settings;
    const number = step.type === 'resume' ? step.attempt.number : step.number;
    emit({
      type: 'batch_notice',
      level: 'warning',
      code: 'not_resumed',
      message: problem.message,
      task: task.id,
    });
    const again = { type: 'start', number: number + 1, tries: step.tries } as const;
    return this.#attempt({ task, step: { ...again, why: 'it could not be resumed' } }, signal);
  }

  /** The clone that an attempt works in; undefined where all share the workspace. The journal knows of it first. */
  async #placeFor(
    { task, step }: PlannedRun,
    number: number,
    start: (workspace: TakenWorkspace | undefined) => void,
  ): Promise<TakenWorkspace | undefined> {
    const { pool } = this.#settings;
    if (!pool || !task.source) {
      start(undefined);
      return undefined;
    }
    const owner = { id: task.id, attempt: number };
    if (step.type === 'resume') {
      const found = pool.find(owner, step.attempt.workspace ?? '', task.source);
      if (!found) throw new Problem('config_error', 'workspace', `the workspace of ${task.id} is gone`);
      start(found);
      return found;
    }
    const place = await pool.take(owner, task.source).catch((error: unknown) => {
      start(undefined);
      throw error;
    });
    start(place);
    await pool.prepare(owner, place, task.source);
    if (!existsSync(join(place.path)))
      throw new Problem('tool_infra_error', 'workspace', `${place.path} is gone`);
    return place;
  }

  /** Requests of a task go through the gate, and are charged to the ledger. */
  #admitFor(id: string, tally: { requests: number; waitedMs: number }): Admit {
    const { gate, ledger } = this.#settings;
    return async (model, signal): Promise<Permit | Refusal> => {
      const started = performance.now();
      this.#checkLedger();
      const pass = await gate.enter(model, tally.requests > 0, signal).finally(() => {
        const waitedMs = performance.now() - started;
        tally.waitedMs += waitedMs;
        this.waitedMs += waitedMs;
      });
      // While it waited, others may have spent what there was.
      this.#checkLedger();
      if (!pass || this.#halt?.kind === 'pause') {
        pass?.({});
        return { type: 'refusal', outcome: cut(this.#halt) };
      }
      tally.requests++;
      return {
        type: 'permit',
        settle: (end) => {
          const tokens = end.usage?.total ?? (end.usage?.prompt ?? 0) + (end.usage?.output ?? 0);
          ledger.charge(id, { costUsd: end.costUsd ?? 0, tokens });
          pass(end);
        },
      };
    };
  }

  #checkLedger(): void {
    const { emptyOf, spent } = this.#settings.ledger;
    if (!emptyOf || this.#halt?.reason === emptyOf) return;
    const used = emptyOf === 'cost' ? `$${spent.costUsd.toFixed(4)}` : `${spent.tokens} tokens`;
    this.halt(limitHalt(emptyOf, `the budget of the batch is used up: ${used}`));
  }
}

/** The end of a run that goes on later. */
function cut(halt: Halt | undefined) {
  return failure('cancelled', 'batch_paused', `the batch was stopped: ${halt?.message ?? 'it is paused'}`);
}
