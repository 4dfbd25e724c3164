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

/** A task that this worker has, for as long as the queue says so. */
export interface Taken {
  readonly job: TaskJob;
  readonly name: string;
  readonly hold: Hold;
  /** Fires when it is not this worker's any more, or nobody can tell. */
  readonly lost: AbortSignal;
}

/** What becomes of a task that was taken. */
export type TakenEnd =
  | { readonly type: 'done'; readonly note: ResultNote }
  /** Another worker may have it. */
  | { readonly type: 'back' }
  /** It is not this worker's any more, as far as this worker can tell. */
  | { readonly type: 'lost' }
  /** Nobody wants it, or its result, any more. */
  | { readonly type: 'dropped' };

export interface TakerSettings {
  readonly fleet: Fleet;
  readonly name: string;
  readonly concurrency: number;
  readonly lockMs: number;
  readonly run: (taken: Taken) => Promise<TakenEnd>;
}

/** A task with the number of the attempt that this worker makes. */
export interface Begun extends Taken {
  readonly attempt: number;
}

const RETRY_MS = 500;
const DROPPED = { v: 0 } as unknown as ResultNote;

/** Takes jobs out of the queue, and gives back what comes of them. */
export class Taker {
  readonly #settings: TakerSettings;
  readonly #worker: Worker<unknown, ResultNote>;
  readonly #leases = new Map<string, Lease>();
  readonly #jobs = new WeakMap<Hold, QueuedJob>();
  /** Those whose results were given to the queue. */
  readonly #given = new WeakSet<QueuedJob>();

  constructor(settings: TakerSettings) {
    this.#settings = settings;
    const { fleet, concurrency, lockMs } = settings;
    const process = (job: QueuedJob, token: string) => this.#process(job, token);
    this.#worker = fleet.worker({ concurrency, lockMs, process });
    this.#worker.on('locksRenewed', ({ jobIds }) => jobIds.forEach((id) => this.#leases.get(id)?.renew()));
    this.#worker.on('lockRenewalFailed', (ids) => ids.forEach((id) => this.#leases.get(id)?.lose()));
    // Nobody collects what belongs to no batch any more.
    this.#worker.on('completed', (job, note) => {
      if (note?.v !== 1) void fleet.tasks.remove(job.id ?? '').catch(() => {});
    });
    // It was ours when its result was sent, and somebody else's when the queue heard of that.
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

  /** Takes nothing more; what runs goes on. */
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
      // It was lost here, and that is not wound up yet. BullMQ renews one lock for each name: two would end one another.
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
      // Whether a task is lost, the queue knows best: if not, others need not wait for the lock.
      await job.moveToWait(token);
      throw new WaitingError();
    } finally {
      lease.end();
      this.#leases.delete(name);
    }
  }

  /** Says that an attempt has begun, to whoever listens. */
  async tellStart({ hold, attempt }: Begun): Promise<void> {
    await this.#jobs.get(hold)?.updateProgress({ attempt, worker: this.#settings.name });
  }
}

/** The header that a job names; undefined if nobody has put it down, or it is another one. */
export async function readHeader(fleet: Fleet, job: TaskJob): Promise<BatchHeader | undefined> {
  const put = await fleet.shelf(job.batch).getJob(`header-${job.header}`);
  const header: unknown = put?.data;
  if (header === undefined || (await headerFault(header))) return undefined;
  const found = header as BatchHeader;
  return headerHash(found) === job.header && found.batch === job.batch ? found : undefined;
}

/** Puts results down piece by piece. A server that is full or away is tried again until the task is lost. */
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

/** For how long a task is certainly this worker's: so long after the queue last said so, by no clock but our own. */
class Lease {
  readonly #ms: number;
  readonly #controller = new AbortController();
  #end: () => void = () => {};
  /** Resolves when nobody has to do with it any more. */
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
