import type { Lease } from '../lib/lease.js';
import { VERSION } from '../lib/version.js';
import { RunsUnderWay } from '../runs/under-way.js';
import { addSpending, type Charge } from './charge.js';
import { Conductor, maxFailed } from './conduct.js';
import { openLocalCrew, openQueueCrew, type Crew, type CrewParts, type Tally } from './crew.js';
import { endingOf } from './ending.js';
import type { PlannedRun } from './executor.js';
import { leaseFolder, writeRecord, writeResults, type BatchRecord } from './folder.js';
import { cancelHalt, limitHalt, type Halt } from './halt.js';
import { foldJournal, JournalFold, type History } from './history.js';
import { applyPatches, checkTree } from './integrate/apply.js';
import type { Integration } from './integrate/stage.js';
import type { BatchEvent, BatchResultEvent, JournalLine } from './journal/event.js';
import { readSoundJournal } from './journal/reader.js';
import { JournalWriter } from './journal/writer.js';
import { openBatch, batchRecord, type OpenedBatch } from './open.js';
import { planAll, planNext, type Planned } from './plan-all.js';
import type { BatchRequest } from './request.js';
import { taskCounts, resultsOf } from './results.js';
import { spentBefore, spentIn } from './spent.js';
import { endedState } from './status.js';

/** Runs a batch, or continues it, and says how it ended. Throws a Problem if it cannot even begin. */
export async function runBatch(request: BatchRequest): Promise<BatchResultEvent> {
  const batch = await openBatch(request);
  const lease = await leaseFolder(batch.paths, batch.spec.name);
  try {
    const record = batchRecord(batch, request);
    const journal = readSoundJournal(batch.paths.journal);
    const history = foldJournal(journal.lines);
    const plan = planAll(batch, history, request);
    const writer = new JournalWriter(batch.paths.journal, record.batch_id, journal.end, lease);
    try {
      writeRecord(batch.paths, record);
      // If we are killed, the results are about the same tasks as the record.
      writeResults(batch.paths, resultsOf(record.tasks, history, batch.spec.repeat));
      return await new Start(request, batch, record, plan, {
        writer,
        lease,
        lines: journal.lines,
        history,
      }).run();
    } finally {
      writer.close();
    }
  } finally {
    lease.release();
  }
}

interface OpenedJournal {
  readonly writer: JournalWriter;
  readonly lease: Lease;
  readonly lines: readonly JournalLine[];
  readonly history: History;
}

/** One start of a batch. */
class Start {
  readonly #request: BatchRequest;
  readonly #batch: OpenedBatch;
  readonly #record: BatchRecord;
  readonly #plan: readonly Planned[];
  readonly #journal: OpenedJournal;
  readonly #lines: JournalLine[];
  readonly #fold: JournalFold;
  readonly #started = performance.now();
  /** Its running tasks: a process that leaves at once ends them before the batch. */
  readonly #underWay = new RunsUnderWay();
  /** By earlier starts. */
  readonly #spent: Charge;

  constructor(
    request: BatchRequest,
    batch: OpenedBatch,
    record: BatchRecord,
    plan: readonly Planned[],
    journal: OpenedJournal,
  ) {
    this.#request = request;
    this.#batch = batch;
    this.#record = record;
    this.#plan = plan;
    this.#journal = journal;
    this.#lines = [...journal.lines];
    this.#fold = new JournalFold(journal.lines);
    this.#spent = spentBefore(journal.history, batch.paths.root, batch.facts.costOf);
  }

  async run(): Promise<BatchResultEvent> {
    const { spec } = this.#batch;
    const runs = this.#runs();
    const integration = this.#integration();
    if (integration) await this.#checkTree(integration);
    const onHalt = (halt: Halt) => conductor.halt(halt);
    const crew = await this.#crew(runs, onHalt);
    const conductor = new Conductor({
      executor: crew.executor,
      next: (task) => planNext(this.#batch, task, this.#fold.history),
      concurrency: crew.concurrency,
      maxFailed: maxFailed(spec.limits.failed, runs.length),
    });
    this.#begin(runs.length);
    const settled = this.#request.underWay?.add(() => {
      this.#underWay.abandon();
      return this.#finish(conductor.halted ?? cancelHalt('SIGTERM'), crew.tally()).exit_code;
    });
    const halted = await this.#conduct(conductor, runs);
    await crew.close();
    const halt = halted ?? (integration && (await this.#integrate(integration)));
    settled?.();
    return this.#finish(halt, crew.tally());
  }

  #crew(runs: readonly PlannedRun[], onHalt: (halt: Halt) => void): Promise<Crew> {
    const parts: CrewParts = {
      ...{ request: this.#request, batch: this.#batch, record: this.#record, onHalt },
      ...{ underWay: this.#underWay, spent: this.#spent, emit: this.#emit, emitFlushed: this.#emitFlushed },
      ...{ earlier: this.#journal.history, history: () => this.#fold.history },
    };
    return this.#request.queue ? openQueueCrew(parts) : openLocalCrew(parts, this.#plan, runs.length > 0);
  }

  #integration(): Integration | undefined {
    const { spec, git, paths } = this.#batch;
    if (spec.integrate === 'none' || !git || this.#request.dryRun) return undefined;
    const fault = (message: string, hint: string) => spec.fault(['integrate'], message, hint);
    const { workspace, signal } = this.#request;
    return { workspace, folder: paths.root, git, signal, fault };
  }

  /** A request to end that comes meanwhile is handled right after. */
  async #checkTree(integration: Integration): Promise<void> {
    const git = this.#batch.tidyGit ?? integration.git;
    await checkTree({ ...integration, git }, this.#lines, this.#emit);
  }

  /** Runs once every task has ended: a pending one could change what others build on. */
  async #integrate(integration: Integration): Promise<Halt | undefined> {
    const results = this.#results();
    if (taskCounts(results, 0).pending > 0) return undefined;
    return applyPatches(integration, results, this.#lines, this.#emit);
  }

  #runs(): PlannedRun[] {
    const { paths, facts } = this.#batch;
    return this.#plan.flatMap(({ task, step, isSelected }) => {
      if (!isSelected || (step.type !== 'start' && step.type !== 'resume')) return [];
      const spent = step.type === 'resume' && { spent: spentIn(step.attempt, paths.root, facts.costOf) };
      return [{ task, step, ...spent }];
    });
  }

  #begin(toRun: number): void {
    const { spec, facts, isolation, base, concurrency, tasks } = this.#batch;
    const { only, redo, retryFailed, shard, dryRun } = this.#request;
    this.#emit({
      type: 'batch_init',
      version: VERSION,
      name: spec.name,
      batch_sha256: this.#record.sha256,
      workspace: this.#request.workspace,
      ...{ isolation, base, concurrency, model: facts.model },
      tasks: { total: tasks.length, to_run: toRun },
      options: {
        ...(only && { only: only.join(' ') }),
        ...(redo && redo.length > 0 && { redo: redo.join(' ') }),
        ...(retryFailed && { retry_failed: true }),
        ...(shard && { shard: `${shard.index}/${shard.count}` }),
        ...(dryRun && { dry_run: true }),
      },
      ...this.#budget(),
    });
  }

  #budget() {
    const { costUsd, tokens } = this.#batch.spec.limits;
    if (costUsd === undefined && tokens === undefined) return {};
    const spent = addSpending(this.#spent.known, this.#spent.estimated);
    return {
      budget: {
        ...(costUsd !== undefined && { cost_usd: costUsd }),
        ...(tokens !== undefined && { tokens }),
        spent_usd: spent.costUsd,
        spent_tokens: spent.tokens,
      },
    };
  }

  /** Runs the tasks until they are done, the time is up, or something asks to end. */
  async #conduct(conductor: Conductor, runs: readonly PlannedRun[]): Promise<Halt | undefined> {
    const { signal } = this.#request;
    const { timeMs } = this.#batch.spec.limits;
    const onSignal = () => conductor.halt(cancelHalt(signal.reason));
    if (signal.aborted) onSignal();
    signal.addEventListener('abort', onSignal, { once: true });
    const timer =
      timeMs === undefined
        ? undefined
        : setTimeout(() => conductor.halt(limitHalt('time', 'the time of the batch is up')), timeMs);
    try {
      return await conductor.run(runs);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onSignal);
    }
  }

  #emit = (event: BatchEvent): void => this.#tell(this.#journal.writer.append(event));

  /** Resolves when the event is flushed. Other tasks do not wait for that. */
  #emitFlushed = (event: BatchEvent): Promise<void> => {
    this.#tell(this.#journal.writer.write(event));
    return this.#journal.writer.flush();
  };

  #tell(line: JournalLine): void {
    this.#lines.push(line);
    this.#fold.add(line);
    for (const reporter of this.#request.reporters) reporter.event(line);
  }

  #results() {
    return resultsOf(this.#record.tasks, this.#fold.history, this.#batch.spec.repeat);
  }

  #finish(halt: Halt | undefined, tally: Tally): BatchResultEvent {
    const { paths } = this.#batch;
    const results = this.#results();
    writeResults(paths, results);
    const selected = new Set(this.#plan.flatMap(({ task, isSelected }) => (isSelected ? task.id : [])));
    const skipped = this.#plan.filter(({ step, isSelected }) => isSelected && step.type === 'skip').length;
    const result = endingOf({
      halt,
      results,
      isSelected: (id) => selected.has(id),
      skipped,
      ...tally,
      durationMs: performance.now() - this.#started,
      command: this.#request.command,
      folder: paths.root,
    });
    this.#emit(result);
    const story = { folder: paths.root, record: this.#record, results, state: endedState(result) };
    for (const reporter of this.#request.reporters) reporter.end?.(story);
    return result;
  }
}
