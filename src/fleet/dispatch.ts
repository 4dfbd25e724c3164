import type { Queue } from 'bullmq';
import { pLimit } from '../lib/limit.js';
import { orAbort } from '../lib/or-abort.js';
import { untilReachable } from './unreachable.js';
import type { Fleet, QueuedJob } from './fleet.js';
import { headerHash, jobName, pieceName, type BatchHeader, type ResultNote, type TaskJob } from './job.js';
import { PIECE_BYTES, pieceHash } from './pack.js';

/** How a job ended. */
export type Settled =
  /** What a worker says about its results: not checked yet. */
  | { readonly type: 'done'; readonly note: unknown }
  | { readonly type: 'failed'; readonly message: string }
  /** It was taken out of the queue. */
  | { readonly type: 'withdrawn' }
  /** The server has lost it. */
  | { readonly type: 'lost' };

export interface Started {
  readonly attempt: number;
  readonly worker: string;
}

interface Waiting {
  readonly settle: (settled: Settled) => void;
  readonly onStart: (started: Started) => void;
}

interface Gate {
  readonly batch?: unknown;
  readonly news?: unknown;
}

interface Putting {
  readonly job: TaskJob;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const AT_ONCE = 200;
/** Events are news, not the truth: those from before we listened, or while disconnected, never arrive. */
const SWEEP_MS = 1000;
/** One sweep in this many also checks whether the server has lost something. */
const LOST_EVERY = 10;
const WITHDRAWN_AT_ONCE = 16;
/** The event for workers' news about the provider. */
export const GATE_EVENT = 'bosun-gate';

/** Puts the tasks of one batch into the queue, and follows them. */
export class Dispatch {
  readonly #fleet: Fleet;
  readonly #shelf: Queue<unknown>;
  readonly #waiting = new Map<string, Waiting>();
  readonly #putting: Putting[] = [];
  readonly #batch: string;
  readonly #closed = new AbortController();
  #header: BatchHeader | undefined;
  #sweeper: NodeJS.Timeout | undefined;
  #sweeps = 0;
  #isSweeping = false;
  #asked = 0;

  constructor(fleet: Fleet, batch: string) {
    this.#fleet = fleet;
    this.#batch = batch;
    this.#shelf = fleet.shelf(batch);
  }

  /** `onGate` gets workers' news about the provider: not checked yet. */
  async open(onGate: (news: string) => void): Promise<void> {
    const events = this.#fleet.events();
    events.on('completed', ({ jobId, returnvalue }) =>
      this.#settle(jobId, { type: 'done', note: returnvalue }),
    );
    events.on('failed', ({ jobId, failedReason }) =>
      this.#settle(jobId, { type: 'failed', message: failedReason }),
    );
    events.on('progress', ({ jobId, data }) => this.#started(jobId, data));
    const other = events as unknown as { on(name: string, listener: (event: Gate) => void): void };
    other.on(GATE_EVENT, ({ batch, news }) => {
      if (batch === this.#batch && typeof news === 'string') onGate(news);
    });
    await events.waitUntilReady();
    this.#sweeper = setInterval(() => void this.#sweep(), SWEEP_MS);
  }

  async putHeader(header: BatchHeader): Promise<string> {
    this.#header = header;
    await this.#renewHeader(header);
    return headerHash(header);
  }

  /** If the header was lost or changed, workers cannot take the tasks. */
  async #renewHeader(header: BatchHeader): Promise<void> {
    const jobId = `header-${headerHash(header)}`;
    await this.#tried(async () => {
      const put = await this.#shelf.getJob(jobId);
      if (put && headerHash(put.data as BatchHeader) === headerHash(header)) return;
      if (put) await this.#shelf.remove(jobId);
      await this.#shelf.add('header', header, { jobId });
    });
  }

  #tried<T>(ask: () => Promise<T>): Promise<T> {
    return untilReachable(ask, this.#closed.signal);
  }

  /** Puts a task in. One that is already there stays as it is. */
  put(job: TaskJob): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#putting.push({ job, resolve, reject });
      if (this.#putting.length === 1) setImmediate(() => void this.#flush());
    });
  }

  async #flush(): Promise<void> {
    const all = this.#putting.splice(0);
    for (let at = 0; at < all.length; at += AT_ONCE) {
      const some = all.slice(at, at + AT_ONCE);
      try {
        const jobs = some.map(({ job }) => ({ name: 'task', data: job, opts: { jobId: jobName(job) } }));
        await this.#tried(() => this.#fleet.tasks.addBulk(jobs));
        for (const { resolve } of some) resolve();
      } catch (error) {
        for (const { reject } of some) reject(error);
      }
    }
  }

  /** Whether there is such a job, finished or not. */
  async has(name: string): Promise<boolean> {
    return (await this.#tried(() => this.#fleet.tasks.getJob(name))) !== undefined;
  }

  /**
   * Waits until a job is settled; puts it in first if it is given. Rejects with the signal's reason if that fires
   * first.
   */
  async settled(
    name: string,
    onStart: Waiting['onStart'],
    signal: AbortSignal,
    job?: TaskJob,
  ): Promise<Settled> {
    const settled = new Promise<Settled>((settle) => this.#waiting.set(name, { settle, onStart }));
    try {
      if (job) await orAbort(this.put(job), signal);
      // It may have happened before we listened.
      else void this.#look(name);
      return await orAbort(settled, signal);
    } finally {
      this.#waiting.delete(name);
    }
  }

  /** The pieces of a result. Throws unless they match the note. */
  async *pieces(note: ResultNote): AsyncGenerator<Buffer> {
    const hash = pieceHash();
    for (let i = 0; i < note.pieces; i++) {
      const job = await this.#tried(() => this.#shelf.getJob(pieceName(note, i)));
      const { data } = (job?.data ?? {}) as { data?: unknown };
      if (typeof data !== 'string') throw new Error(`piece ${i + 1} of ${note.pieces} is missing`);
      const bytes = Buffer.from(data, 'base64');
      if (bytes.length > PIECE_BYTES) throw new Error(`piece ${i + 1} of ${note.pieces} is too large`);
      hash.add(bytes);
      yield bytes;
    }
    const found = hash.note();
    if (found.sha256 !== note.sha256 || found.bytes !== note.bytes)
      throw new Error('its pieces do not match what was sent');
  }

  /** Removes a settled job, and its pieces. */
  async forget(name: string, note?: ResultNote): Promise<void> {
    const { tasks, store } = this.#fleet;
    const pieces = Array.from({ length: note?.pieces ?? 0 }, (_, i) => pieceName(note as ResultNote, i));
    const own = [this.#tried(() => tasks.remove(name)), this.#tried(() => store.forget(this.#batch, name))];
    await Promise.allSettled([
      ...own,
      ...pieces.map((piece) => this.#tried(() => this.#shelf.remove(piece))),
    ]);
  }

  /** The server has lost something, or it was changed: stores what tasks need again. */
  async renew(): Promise<void> {
    if (this.#header) await this.#renewHeader(this.#header);
  }

  /** Removes from the queue what no worker has taken. */
  async withdraw(): Promise<void> {
    const some = pLimit(WITHDRAWN_AT_ONCE);
    await Promise.all([...this.#waiting.keys()].map((name) => some(() => this.#withdraw(name))));
  }

  async #withdraw(name: string): Promise<void> {
    const job = await this.#fleet.tasks.getJob(name);
    const isIdle = job === undefined || ['waiting', 'delayed', 'prioritized'].includes(await job.getState());
    const isGone =
      isIdle && (job === undefined || (await this.#fleet.tasks.remove(name).catch(() => 0)) === 1);
    if (isGone) this.#settle(name, { type: 'withdrawn' });
  }

  /** `isOver`: nothing of the batch is needed any more. */
  async close(isOver: boolean): Promise<void> {
    clearInterval(this.#sweeper);
    this.#closed.abort();
    if (isOver) await this.#shelf.obliterate({ force: true }).catch(() => {});
  }

  #settle(name: string, settled: Settled): void {
    this.#waiting.get(name)?.settle(settled);
  }

  async #look(name: string): Promise<void> {
    try {
      const job = await this.#fleet.tasks.getJob(name);
      if (job) this.#lookAt(job, await job.getState());
    } catch {
      // The next sweep looks again.
    }
  }

  #lookAt(job: QueuedJob, state: string): void {
    const name = job.id ?? '';
    this.#started(name, job.progress);
    if (state === 'completed') this.#settle(name, { type: 'done', note: job.returnvalue });
    else if (state === 'failed') this.#settle(name, { type: 'failed', message: job.failedReason ?? '' });
  }

  #started(name: string, progress: unknown): void {
    const { attempt, worker } = (progress ?? {}) as Partial<Started>;
    if (attempt !== undefined && Number.isSafeInteger(attempt) && typeof worker === 'string')
      this.#waiting.get(name)?.onStart({ attempt, worker: worker.slice(0, 200) });
  }

  /** Checks what events should have reported, and did not. */
  async #sweep(): Promise<void> {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    try {
      for (const state of ['completed', 'failed'] as const)
        for (let at = 0; ; at += AT_ONCE) {
          const jobs = await this.#fleet.tasks.getJobs([state], at, at + AT_ONCE - 1);
          for (const job of jobs) if (job) this.#lookAt(job, state);
          if (jobs.length < AT_ONCE) break;
        }
      if (++this.#sweeps % LOST_EVERY === 0) await this.#missLost();
    } catch {
      // The server is away; try again next time.
    } finally {
      this.#isSweeping = false;
    }
  }

  /** A server without persistence may come back without its data. Checks a few jobs each time. */
  async #missLost(): Promise<void> {
    const names = [...this.#waiting.keys()];
    this.#asked = this.#asked < names.length ? this.#asked : 0;
    const some = names.slice(this.#asked, this.#asked + AT_ONCE);
    this.#asked += some.length;
    for (const name of some)
      if (!(await this.has(name)) && this.#waiting.has(name)) this.#settle(name, { type: 'lost' });
  }
}
