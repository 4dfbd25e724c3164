import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { Dispatch } from '../../fleet/dispatch.js';
import { Fleet } from '../../fleet/fleet.js';
import type { BatchState } from '../../fleet/store.js';
import { pause } from '../../lib/pause.js';
import { realPath } from '../../lib/real-path.js';
import { configProblem, Problem } from '../../protocol/problem.js';
import type { Executor, PlannedRun } from '../executor.js';
import type { BatchRecord } from '../folder.js';
import { readGateEvent } from '../gate/news.js';
import { budgetHalt, quotaHalt, type Halt } from '../halt.js';
import type { History } from '../history.js';
import type { BatchEvent, TaskEndEvent } from '../journal/event.js';
import type { Spending } from '../charge.js';
import type { OpenedBatch } from '../open.js';
import type { BatchRequest } from '../request.js';
import { checkPatch } from './check-patch.js';
import { Collector, pendingEnd } from './collector.js';
import { batchHeader } from './header.js';
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

/** Connects to the queue of a batch, and claims the batch. Throws a Problem if either fails. */
export async function openCoordinator(settings: CoordinatorSettings): Promise<Coordinator> {
  const { queue, log } = settings.request;
  if (!queue) throw new Error('there is no queue');
  let tell = log;
  const fleet = await Fleet.open(queue.address, (line) => tell(line));
  try {
    const coordinator = await Coordinator.open({ ...settings, fleet });
    // Users who wonder why nothing happens read the journal.
    tell = (message) => coordinator.notice('queue', message);
    return coordinator;
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
/** Events of all workers, in one start. */
const MAX_NEWS = 2000;

/** Lets workers elsewhere run the tasks: puts them into a queue, and collects the results. */
export class Coordinator implements Executor {
  readonly #settings: OpenSettings;
  readonly #dispatch: Dispatch;
  readonly #holder = randomBytes(8).toString('hex');
  readonly #stop = new AbortController();
  #collector: Collector | undefined;
  #news = 0;
  #state: BatchState | undefined;
  #halt: Halt | undefined;
  #polling: Promise<void> = Promise.resolve();

  private constructor(settings: OpenSettings) {
    this.#settings = settings;
    this.#dispatch = new Dispatch(settings.fleet, settings.record.batch_id);
  }

  /** Throws a Problem if another process coordinates the batch already. */
  static async open(settings: OpenSettings): Promise<Coordinator> {
    const { fleet, batch, record, request } = settings;
    const coordinator = new Coordinator(settings);
    const header = batchHeader(batch, record, request);
    coordinator.#state = await coordinator.#claim();
    await fleet.store.halt(record.batch_id, undefined);
    await coordinator.#dispatch.open((news) => void coordinator.#hear(news));
    coordinator.#collector = new Collector({
      ...{ dispatch: coordinator.#dispatch, store: fleet.store, folder: batch.paths.root },
      ...{ history: settings.history, emit: settings.emit },
      facts: {
        header: await coordinator.#dispatch.putHeader(header),
        batch: record.batch_id,
        untrusted: batch.spec.untrusted,
        redact: (text) => batch.facts.redactor.text(text),
        key: request.queue?.key,
      },
      checked: async (patch, { source }) => {
        const { git, facts } = batch;
        if (!git || !source) throw new Error('it has a patch, but nothing to apply it to');
        await checkPatch(patch, source, { git, facts });
      },
      isHalted: () => coordinator.#halt !== undefined,
      refresh: () => coordinator.#refresh(),
    });
    coordinator.#polling = coordinator.#poll();
    return coordinator;
  }

  /** The spending of all workers together, as far as known. */
  get tally() {
    const { costUsd = 0, tokens = 0, requests = 0, rejected = 0, late = 0 } = this.#state ?? {};
    return {
      spent: { costUsd, tokens },
      requests,
      rejected,
      lateResults: late,
      waitedMs: this.#collector?.waitedMs ?? 0,
    };
  }

  notice(code: string, message: string): void {
    if (!this.#stop.signal.aborted)
      this.#settings.emit({ type: 'batch_notice', level: 'warning', code, message });
  }

  begin(): boolean {
    return this.#halt === undefined;
  }

  halt(halt: Halt): void {
    this.#halt = halt;
    // Stopping this process leaves the workers alone: they can finish what they have without it.
    if (halt.status === 'cancelled') return;
    void this.#callOff(halt).catch(() => {});
  }

  async #callOff(halt: Halt): Promise<void> {
    const { fleet, record } = this.#settings;
    if (halt.kind !== 'stop') await fleet.store.halt(record.batch_id, workerHalt(halt.reason, halt.message));
    await this.#dispatch.withdraw();
  }

  async attempt(planned: PlannedRun, signal: AbortSignal): Promise<TaskEndEvent> {
    try {
      return await (this.#collector as Collector).see(planned, signal);
    } catch (error) {
      if (signal.aborted) return pendingEnd(planned.task);
      throw error;
    }
  }

  async #claim(): Promise<BatchState> {
    const { fleet, record, batch, spent } = this.#settings;
    const { limits, rate } = batch.spec;
    const { cost_usd, tokens } = batch.facts.limits;
    const claimed = await fleet.store.claim(
      record.batch_id,
      { holder: this.#holder, place: `${hostname()}:${realPath(batch.paths.root)}`, forMs: CLAIM_MS },
      {
        ...{ name: record.name, total: record.tasks.length, spent },
        ...(limits.costUsd !== undefined && { costUsd: limits.costUsd }),
        ...(limits.tokens !== undefined && { tokens: limits.tokens }),
        task: {
          ...(cost_usd !== undefined && { costUsd: cost_usd }),
          ...(tokens !== undefined && { tokens }),
        },
        ...rate,
      },
    );
    if (claimed.type === 'granted') return claimed.state;
    throw configProblem('batch_busy', `another process coordinates the batch ${record.name}: ${claimed.by}`, {
      hint: `Wait until it has ended; one that has died holds the batch for ${CLAIM_MS / 1000} seconds.`,
    });
  }

  /** Says that it is still there, and gets the workers' spending. */
  async #poll(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await pause(POLL_MS, signal);
      if (signal.aborted) return;
      try {
        await this.#refresh();
        if (this.#halt && this.#halt.status !== 'cancelled') await this.#dispatch.withdraw();
      } catch {
        // The server is away; try again next time.
      }
    }
  }

  async #refresh(): Promise<void> {
    try {
      this.#state = await this.#claim();
      this.#look(this.#state);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const { status, code, message } = error;
      this.#settings.onHalt({ kind: 'stop', status, exitCode: 2, reason: code, message });
    }
  }

  /** What a worker reports about the provider. A flood of it is ignored. */
  async #hear(news: string): Promise<void> {
    const event = this.#news++ < MAX_NEWS ? await readGateEvent(news) : undefined;
    if (event && !this.#stop.signal.aborted) this.#settings.emit(event);
  }

  #look({ costUsd, tokens, limitUsd = Infinity, limitTokens = Infinity, halt }: BatchState): void {
    if (this.#halt) return;
    const { onHalt } = this.#settings;
    if (costUsd >= limitUsd) onHalt(budgetHalt('cost', `$${costUsd.toFixed(4)}`));
    else if (tokens >= limitTokens) onHalt(budgetHalt('tokens', `${tokens} tokens`));
    const quota = halt === undefined ? undefined : readWorkerHalt(halt);
    if (quota?.model !== undefined) onHalt(quotaHalt(quota.model, quota.resetMs));
  }

  /** `isOver`: every task has ended, and nothing of the batch needs to stay on the server. */
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
