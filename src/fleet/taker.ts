import { randomBytes } from 'node:crypto';
import type { Worker } from 'bullmq';
import { orAbort, orTimeout } from '../lib/or-abort.js';
import { pause } from '../lib/pause.js';
import type { Fleet, QueuedJob } from './fleet.js';
import {
  headerFault,
  headerHash,
  jobFault,
  jobName,
  pieceName,
  type BatchHeader,
  type ResultNote,
  type TaskJob,
} from './job.js';
import { packPieces, pieceHash, type Chosen } from './pack.js';
import type { Hold } from './store.js';

/** A task that this worker has, as long as the queue says so. */
export interface Taken {
  readonly job: TaskJob;
  readonly name: string;
  readonly hold: Hold;
  /** Fires when it is no longer this worker's, or that is unknown. */
  readonly lost: AbortSignal;
}

/** What happens with a task that was taken. */
export type TakenEnd =
  | { readonly type: 'done'; readonly note: ResultNote }
  /** Another worker may have it. */
  | { readonly type: 'back' }
  /** It is no longer this worker's, as far as this worker can tell. */
  | { readonly type: 'lost' }
  /** It, or its result, is no longer needed. */
  | { readonly type: 'dropped' };

export interface TakerSettings {
  readonly fleet: Fleet;
  readonly name: string;
  readonly concurrency: number;
  readonly lockMs: number;
  readonly run: (taken: Taken) => Promise<TakenEnd>;
}

/** A task, with the number of this worker's attempt. */
export interface Begun extends Taken {
  readonly attempt: number;
}

const RETRY_MS = 500;
const DROPPED = { v: 0 } as unknown as ResultNote;

/** Takes jobs out of the queue, and returns their results. */
export class Taker {
  readonly #settings: TakerSettings;
  readonly #worker: Worker<unknown, ResultNote>;
  readonly #leases = new Map<string, Lease>();
  readonly #jobs = new WeakMap<Hold, QueuedJob>();
  /** Those whose results the queue has. */
  readonly #given = new WeakSet<QueuedJob>();

  constructor(settings: TakerSettings) {
    this.#settings = settings;
    const { fleet, concurrency, lockMs } = settings;
    const process = (job: QueuedJob, token: string) => this.#process(job, token);
    this.#worker = fleet.worker({ concurrency, lockMs, process });
    this.#worker.on('locksRenewed', ({ jobIds }) => jobIds.forEach((id) => this.#leases.get(id)?.renew()));
    this.#worker.on('lockRenewalFailed', (ids) => ids.forEach((id) => this.#leases.get(id)?.lose()));
    // Nobody collects what belongs to no batch.
    this.#worker.on('completed', (job, note) => {
      if (note?.v !== 1) void fleet.tasks.remove(job.id ?? '').catch(() => {});
    });
    // It was ours when its result was sent, and another worker's when that arrived.
    this.#worker.on('failed', (job) => {
      if (job && this.#given.has(job)) void fleet.store.late((job.data as TaskJob).batch).catch(() => {});
    });
  }

  get running(): number {
    return this.#leases.size;
  }

  start(): void {
    void this.#worker.run();
  }

  /** Takes nothing more; running tasks continue. */
  async stop(): Promise<void> {
    await this.#worker.pause(true);
  }

  close(isForced = false): Promise<void> {
    return this.#worker.close(isForced);
  }

  async #process(job: QueuedJob, token: string): Promise<ResultNote> {
    const { fleet, lockMs, run } = this.#settings;
    const { UnrecoverableError, WaitingError } = fleet.bull;
    const name = job.id ?? '';
    const fault = await jobFault(job.data);
    if (fault) throw new UnrecoverableError(`not a task of a batch: ${fault}`);
    const task = job.data as TaskJob;
    if (jobName(task) !== name)
      throw new UnrecoverableError('not a task of a batch: its name is that of another task');
    const before = this.#leases.get(name);
    if (before) {
      // It was lost here, which is not cleaned up yet. BullMQ renews one lock per name: two would end one another.
      await orTimeout(before.over, lockMs / 2, '').catch(() => {});
      await job.moveToWait(token);
      throw new WaitingError();
    }
    const lease = new Lease(lockMs);
    this.#leases.set(name, lease);
    try {
      const hold = { batch: task.batch, job: name, word: randomBytes(8).toString('hex') };
      this.#jobs.set(hold, job);
      const end = await run({ job: task, name, hold, lost: lease.signal });
      if (end.type === 'done') {
        this.#given.add(job);
        return end.note;
      }
      if (end.type === 'dropped') return DROPPED;
      // The queue decides whether a task is lost: if not, others need not wait for the lock.
      await job.moveToWait(token);
      throw new WaitingError();
    } finally {
      lease.end();
      this.#leases.delete(name);
    }
  }

  /** Tells all listeners that an attempt has begun. */
  async tellStart({ hold, attempt }: Begun): Promise<void> {
    await this.#jobs.get(hold)?.updateProgress({ attempt, worker: this.#settings.name });
  }
}

/** The header that a job names; undefined if it is missing, or differs. */
export async function readHeader(fleet: Fleet, job: TaskJob): Promise<BatchHeader | undefined> {
  const put = await fleet.shelf(job.batch).getJob(`header-${job.header}`);
  const header: unknown = put?.data;
  if (header === undefined || (await headerFault(header))) return undefined;
  const found = header as BatchHeader;
  return headerHash(found) === job.header && found.batch === job.batch ? found : undefined;
}

/** Stores results piece by piece. A server that is full or away is tried again until the task is lost. */
export async function putResults(
  fleet: Fleet,
  { hold, lost }: Taken,
  { files }: Chosen,
): Promise<Pick<ResultNote, 'pieces' | 'bytes' | 'sha256' | 'word'>> {
  const hash = pieceHash();
  let index = 0;
  for await (const piece of packPieces(files)) {
    hash.add(piece);
    const jobId = pieceName(hold, index++);
    const data = piece.toString('base64');
    for (;;) {
      lost.throwIfAborted();
      try {
        await orAbort(fleet.shelf(hold.batch).add('piece', { data }, { jobId }), lost);
        break;
      } catch {
        await pause(RETRY_MS, lost);
      }
    }
  }
  return { ...hash.note(), word: hold.word };
}

/** How long a task is certainly this worker's: from when the queue last said so, by our own clock only. */
class Lease {
  readonly #ms: number;
  readonly #controller = new AbortController();
  #end: () => void = () => {};
  /** Resolves when nothing more is to be done about it. */
  readonly over = new Promise<void>((resolve) => (this.#end = resolve));
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.#ms = ms;
    this.renew();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  renew(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.lose(), this.#ms);
  }

  lose(): void {
    this.#controller.abort(new Error('this worker no longer has the task'));
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#end();
  }
}
