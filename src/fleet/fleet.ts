import type { Job, Queue, QueueEvents, Worker } from 'bullmq';

import { errorMessage } from '../lib/errors.js';
import { orTimeout } from '../lib/or-abort.js';
import { Problem } from '../protocol/problem.js';
import { withoutPassword, type QueueAddress } from './address.js';
import type { ResultNote } from './job.js';
import { Ledger } from './ledger.js';
import { loadBull, type Bull } from './library.js';
import { postgresLedger, postgresOptions } from './postgres.js';
import { PREFIX, redisLedger, redisOptions } from './redis.js';
import type { Store } from './store.js';

export type TaskQueue = Queue<unknown, ResultNote>;
export type QueuedJob = Job<unknown, ResultNote>;

export interface WorkerSettings {
  readonly concurrency: number;
  readonly lockMs: number;
  readonly process: (job: QueuedJob, word: string) => Promise<ResultNote>;
}

const TASKS = 'bosun-tasks';
const READY_MS = 15_000;
const NO_ANSWER = 'it does not answer';
/** So often may the worker of a job die before the job is to blame. */
const MAX_DEATHS = 5;

/** A server of queues, as coordinators and workers use it. BullMQ keeps the jobs, whichever server it is. */
export class Fleet {
  readonly bull: Bull;
  readonly store: Store;
  readonly address: QueueAddress;
  readonly tasks: TaskQueue;
  readonly #onError: (error: Error) => void;
  readonly #shelves = new Map<string, Queue<unknown>>();
  readonly #open: { close(): Promise<unknown> }[] = [];

  private constructor(bull: Bull, store: Store, address: QueueAddress, onError: (error: Error) => void) {
    this.bull = bull;
    this.store = store;
    this.address = address;
    this.#onError = onError;
    this.tasks = this.queue(TASKS);
  }

  /** Throws a Problem if the server cannot be reached, or packages are missing. `log` hears what goes wrong later. */
  static async open(address: QueueAddress, log: (line: string) => void): Promise<Fleet> {
    const bull = await loadBull(address);
    let last = '';
    const onError = (error: Error) => {
      const message = withoutPassword(errorMessage(error), address);
      if (message !== last) log(`queue: ${message}`);
      last = message;
    };
    try {
      const open = address.kind === 'redis' ? redisLedger : postgresLedger;
      const ledger = await orTimeout(open(address, onError), READY_MS, NO_ANSWER);
      const fleet = new Fleet(bull, new Ledger(ledger), address, onError);
      await orTimeout(fleet.tasks.waitUntilReady(), READY_MS, NO_ANSWER);
      return fleet;
    } catch (error) {
      if (error instanceof Problem) throw error;
      throw new Problem(
        'tool_infra_error',
        'queue',
        `the queue ${address.shown} cannot be used: ${withoutPassword(errorMessage(error), address)}`,
        { hint: 'Is the server running, and the address right?', cause: error },
      );
    }
  }

  /** What is put down for others to fetch, and belongs to one batch. */
  shelf(batch: string): Queue<unknown> {
    const known = this.#shelves.get(batch) ?? this.queue(`bosun-${batch}`);
    this.#shelves.set(batch, known);
    return known;
  }

  queue<R>(name: string): Queue<unknown, R> {
    const defaultJobOptions = { attempts: 1, removeOnComplete: false, removeOnFail: false };
    const settings = { ...this.#settings(2), defaultJobOptions };
    return this.#opened(
      (this.address.kind === 'redis'
        ? new this.bull.Queue(name, settings as never)
        : new this.bull.Queue(
            name,
            settings as never,
            this.bull.createPostgresBackend as never,
          )) as unknown as Queue<unknown, R>,
    );
  }

  events(): QueueEvents {
    const settings = this.#settings(1) as never;
    return this.#opened(
      this.address.kind === 'redis'
        ? new this.bull.QueueEvents(TASKS, settings)
        : (new this.bull.QueueEvents(
            TASKS,
            settings,
            this.bull.createPostgresBackend as never,
          ) as unknown as QueueEvents),
    );
  }

  worker({ concurrency, lockMs, process }: WorkerSettings): Worker<unknown, ResultNote> {
    const settings = {
      ...this.#settings(4),
      autorun: false,
      concurrency,
      lockDuration: lockMs,
      stalledInterval: Math.round(lockMs / 2),
      maxStalledCount: MAX_DEATHS,
    } as never;
    const run = (job: QueuedJob, word = '') => process(job, word);
    return this.#opened(
      (this.address.kind === 'redis'
        ? new this.bull.Worker(TASKS, run as never, settings)
        : new this.bull.Worker(
            TASKS,
            run as never,
            settings,
            this.bull.createPostgresBackend as never,
          )) as unknown as Worker<unknown, ResultNote>,
    );
  }

  async close(): Promise<void> {
    for (const one of this.#open.toReversed()) await one.close().catch(() => {});
    await this.store.close().catch(() => {});
  }

  #settings(most: number) {
    const isRedis = this.address.kind === 'redis';
    const connection = isRedis ? redisOptions(this.address) : postgresOptions(this.address, most);
    return { connection, prefix: PREFIX };
  }

  #opened<
    T extends { close(): Promise<unknown>; on(name: 'error', listener: (error: Error) => void): unknown },
  >(one: T): T {
    one.on('error', this.#onError);
    this.#open.push(one);
    return one;
  }
}
