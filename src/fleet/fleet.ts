import type { Job, Queue, QueueEvents, QueueEventsProducer, Worker } from 'bullmq';

import { errorMessage } from '../lib/errors.js';
import { orTimeout } from '../lib/or-abort.js';
import { Problem } from '../protocol/problem.js';
import { withoutPassword, type QueueAddress } from './address.js';
import type { ResultNote } from './job.js';
import { Ledger } from './ledger.js';
import { loadBull, type Bull } from './library.js';
import { postgresLedger, postgresOptions } from './postgres.js';
import { PREFIX, redisLedger, redisOptions } from './redis.js';
import { onServerClock, ServerClock } from './server-clock.js';
import type { Store } from './store.js';

export type TaskQueue = Queue<unknown, ResultNote>;
export type QueuedJob = Job<unknown, ResultNote>;

export interface WorkerSettings {
  readonly concurrency: number;
  readonly lockMs: number;
  readonly process: (job: QueuedJob, word: string) => Promise<ResultNote>;
}

interface Opened {
  close(): Promise<unknown>;
  on(name: 'error', listener: (error: Error) => void): unknown;
}

const TASKS = 'bosun-tasks';
const READY_MS = 15_000;
const NO_ANSWER = 'it does not answer';
/**
 * One worker at a time looks for expired locks, and the others rely on it for this long. It is equal for all: a
 * worker with a long lock may not delay those with a short one.
 */
const STALLED_MS = 2500;
/** How often the worker of a job may die before the job is to blame. */
const MAX_DEATHS = 5;
/** Jobs name their batch: invented names may not each cost a connection. */
const MAX_SHELVES = 16;

/** A queue server for coordinators and workers. BullMQ keeps the jobs, whichever server it is. */
export class Fleet {
  readonly bull: Bull;
  readonly store: Store;
  readonly address: QueueAddress;
  readonly tasks: TaskQueue;
  readonly #clock: ServerClock;
  readonly #onError: (error: Error) => void;
  readonly #shelves = new Map<string, Queue<unknown>>();
  readonly #open = new Set<Opened>();

  private constructor(
    { bull, store, address, clock }: { bull: Bull; store: Store; address: QueueAddress; clock: ServerClock },
    onError: (error: Error) => void,
  ) {
    this.bull = bull;
    this.store = store;
    this.address = address;
    this.#clock = clock;
    this.#onError = onError;
    this.tasks = this.queue(TASKS);
  }

  /** Throws a Problem if the server cannot be reached, or packages are missing. `log` gets later errors. */
  static async open(address: QueueAddress, log: (line: string) => void): Promise<Fleet> {
    const bull = await loadBull(address);
    let [last, isOpen] = ['', false];
    const onError = (error: Error) => {
      const message = withoutPassword(errorMessage(error), address);
      if (message !== last && isOpen) log(`queue: ${message}`);
      last = message;
    };
    const clock = new ServerClock();
    try {
      const opening =
        address.kind === 'redis' ? redisLedger(address, onError) : postgresLedger(address, onError, clock);
      const store = new Ledger(await orTimeout(opening, READY_MS, NO_ANSWER));
      const fleet = new Fleet({ bull, store, address, clock }, onError);
      await orTimeout(fleet.tasks.waitUntilReady(), READY_MS, NO_ANSWER);
      isOpen = true;
      return fleet;
    } catch (error) {
      if (error instanceof Problem) throw error;
      throw new Problem(
        'tool_infra_error',
        'queue',
        // A client's last message only says that there is no connection.
        `the queue ${address.shown} cannot be used: ${last || withoutPassword(errorMessage(error), address)}`,
        { hint: 'Is the server running, and the address right?', cause: error },
      );
    }
  }

  /** What is stored for others to fetch, and belongs to one batch. */
  shelf(batch: string): Queue<unknown> {
    const shelf = this.#shelves.get(batch) ?? this.queue(`bosun-${batch}`);
    // The one that was unused for longest goes first.
    this.#shelves.delete(batch);
    this.#shelves.set(batch, shelf);
    const [oldest] = this.#shelves;
    if (oldest && this.#shelves.size > MAX_SHELVES) {
      this.#shelves.delete(oldest[0]);
      this.#open.delete(oldest[1]);
      void oldest[1].close().catch(() => {});
    }
    return shelf;
  }

  queue<R>(name: string): Queue<unknown, R> {
    const defaultJobOptions = { attempts: 1, removeOnComplete: false, removeOnFail: false };
    const settings = { ...this.#settings(2), defaultJobOptions };
    return this.#opened(
      new this.bull.Queue(name, settings as never, ...this.#backend()) as unknown as Queue<unknown, R>,
    );
  }

  events(): QueueEvents {
    return this.#opened(
      new this.bull.QueueEvents(TASKS, this.#settings(1) as never, ...this.#backend()),
    ) as unknown as QueueEvents;
  }

  /** Sends events to all listeners. */
  announcer(): QueueEventsProducer {
    return this.#opened(
      new this.bull.QueueEventsProducer(TASKS, this.#settings(1) as never, ...this.#backend()),
    ) as unknown as QueueEventsProducer;
  }

  worker({ concurrency, lockMs, process }: WorkerSettings): Worker<unknown, ResultNote> {
    const settings = {
      ...this.#settings(4),
      autorun: false,
      concurrency,
      lockDuration: lockMs,
      stalledInterval: STALLED_MS,
      maxStalledCount: MAX_DEATHS,
    };
    const run = (job: QueuedJob, word = '') => process(job, word);
    return this.#opened(
      new this.bull.Worker(TASKS, run as never, settings as never, ...this.#backend()),
    ) as unknown as Worker<unknown, ResultNote>;
  }

  async close(): Promise<void> {
    for (const one of [...this.#open].toReversed()) await one.close().catch(() => {});
    await this.store.close().catch(() => {});
  }

  /** What a class of BullMQ needs to work with the server; Redis is the default. */
  #backend(): [] | [never] {
    if (this.address.kind === 'redis') return [];
    return [onServerClock(this.bull.createPostgresBackend, this.#clock) as never];
  }

  #settings(most: number) {
    const isRedis = this.address.kind === 'redis';
    const connection = isRedis ? redisOptions(this.address) : postgresOptions(this.address, most);
    return { connection, prefix: PREFIX };
  }

  #opened<T>(one: T): T {
    const opened = one as Opened;
    opened.on('error', this.#onError);
    this.#open.add(opened);
    return one;
  }
}
