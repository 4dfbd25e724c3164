import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { untilReachable } from '../../fleet/unreachable.js';
import { GATE_EVENT } from '../../fleet/dispatch.js';
import { Fleet } from '../../fleet/fleet.js';
import { signatureFault, type BatchHeader, type ResultNote, type TaskJob } from '../../fleet/job.js';
import { chooseFiles } from '../../fleet/pack.js';
import type { Taking } from '../../fleet/store.js';
import { readHeader, putResults, Taker, type Begun, type Taken, type TakenEnd } from '../../fleet/taker.js';
import { attempt } from '../../lib/attempt.js';
import { errorMessage } from '../../lib/errors.js';
import { toJsonLine } from '../../lib/jsonl.js';
import { pause } from '../../lib/pause.js';
import { removeTree } from '../../lib/remove-tree.js';
import { failure } from '../../protocol/outcome.js';
import { Connections } from '../../providers/http/connections.js';
import { RunsUnderWay } from '../../runs/under-way.js';
import { gateEvent } from '../gate/news.js';
import type { GateNews } from '../gate/regime.js';
import { AttemptRunner } from '../attempt-runner.js';
import { fileNameFor } from '../ids.js';
import type { TaskEndEvent } from '../journal/event.js';
import { ownGit, type Git } from '../workspaces/git.js';
import type { CloneSource } from '../workspaces/source.js';
import { findSource, type Fetching } from './find-source.js';
import { SharedAdmission } from './shared-admission.js';
import { openWorkerBatch, type WorkerBatch } from './worker-batch.js';
import type { WorkerRequest } from './worker-request.js';

/** How it ended: `handed_back`: it was told to stop with tasks unfinished. */
export type WorkerEnd = 'idle' | 'handed_back';

const EMPTY_MS = 500;
/** How long this worker does not get a job again that it has refused. */
const REFUSED_MS = 1000;
/** How often a worker asks whether the budget has room for another task. */
const ROOM_MS = 500;
/** As many as BullMQ keeps of its own. */
const MAX_EVENTS = 10_000;
const NOTHING = { pieces: 0, bytes: 0, sha256: '0'.repeat(64), left: { files: 0, bytes: 0 } };
/** Of stored outputs, for one attempt. */
export const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** Takes tasks from a queue and runs them, until it is told to stop. */
export async function runWorker(request: WorkerRequest): Promise<WorkerEnd> {
  try {
    const fleet = await Fleet.open(request.address, request.tell);
    try {
      mkdirSync(request.root, { recursive: true, mode: 0o700 });
      return await new Worker(request, fleet).run();
    } finally {
      await fleet.close();
    }
  } finally {
    attempt(() => removeTree(request.root));
  }
}

class Worker {
  readonly #request: WorkerRequest;
  readonly #fleet: Fleet;
  readonly #taker: Taker;
  readonly #git: Git;
  readonly #name = `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`;
  readonly #shops = new Map<string, Promise<WorkerBatch>>();
  readonly #fetching: Fetching = new Map();
  readonly #refused = new Set<string>();
  readonly #headers = new Map<string, BatchHeader>();
  readonly #underWay = new RunsUnderWay();
  readonly #connections = new Connections();
  /** Fires when running tasks are to be handed back. */
  readonly #handBack = new AbortController();
  #announcer: ReturnType<Fleet['announcer']> | undefined;
  #done = 0;
  #handedBack = 0;

  constructor(request: WorkerRequest, fleet: Fleet) {
    this.#request = request;
    this.#fleet = fleet;
    const { concurrency, lockMs, variables, root } = request;
    this.#git = ownGit({ variables, writable: [root], signal: new AbortController().signal });
    this.#taker = new Taker({
      fleet,
      name: this.#name,
      concurrency,
      lockMs,
      run: (taken) => this.#run(taken),
    });
  }

  async run(): Promise<WorkerEnd> {
    const { signal, graceMs, tell, address } = this.#request;
    const beats = new AbortController();
    await this.#beat();
    const beating = this.#keepBeating(beats.signal);
    this.#taker.start();
    tell(`worker ${this.#name} takes tasks from ${address.shown}`);
    await this.#untilTold();
    await this.#taker.stop();
    if (signal.aborted) {
      if (this.#taker.running > 0)
        tell(`${this.#taker.running} running: they have ${graceMs / 1000} s to finish`);
      const patience = new AbortController();
      const timer = setTimeout(() => patience.abort(), graceMs);
      while (this.#taker.running > 0 && !patience.signal.aborted) await pause(50, patience.signal);
      clearTimeout(timer);
      this.#handBack.abort();
    }
    await this.#taker.close();
    this.#connections.close();
    beats.abort();
    await beating;
    await this.#fleet.store.gone(this.#name).catch(() => {});
    return this.#handedBack > 0 ? 'handed_back' : 'idle';
  }

  async #untilTold(): Promise<void> {
    const { signal, untilEmpty } = this.#request;
    while (!signal.aborted) {
      await pause(EMPTY_MS, signal);
      if (!untilEmpty || signal.aborted || this.#taker.running > 0) continue;
      const counts = await this.#fleet.tasks
        .getJobCounts('waiting', 'delayed', 'active', 'prioritized')
        .catch(() => ({ unknown: 1 }));
      if (Object.values(counts).every((number) => number === 0)) return;
    }
  }

  async #run(taken: Taken): Promise<TakenEnd> {
    try {
      return await this.#see(taken);
    } catch (error) {
      if (taken.lost.aborted) return { type: 'lost' };
      throw error;
    }
  }

  async #see(taken: Taken): Promise<TakenEnd> {
    const { job, lost } = taken;
    const header = await untilReachable(() => this.#readHeader(job), lost);
    if (!header) return { type: 'dropped' };
    let prepared: { batch: WorkerBatch; source: CloneSource };
    try {
      prepared = await this.#prepare(taken, header);
    } catch (error) {
      lost.throwIfAborted();
      return this.#refuse(taken, errorMessage(error));
    }
    const taking = await this.#take(taken);
    if (taking.type === 'full') return { type: 'back' };
    if (taking.type === 'gone') return { type: 'dropped' };
    if (taking.type === 'halted') return { type: 'done', note: { ...this.#note(taken), open: true } };
    const begun = { ...taken, attempt: job.attempt + taking.count - 1 };
    // For the coordinator; if it misses this, the result says so, too.
    void this.#taker.tellStart(begun).catch(() => {});
    this.#request.tell(`${job.id}: begun (attempt ${begun.attempt})`);
    return this.#attempt(begun, prepared.batch, prepared.source);
  }

  /** The header's name is its hash, so it is read only once. */
  async #readHeader(job: TaskJob): Promise<BatchHeader | undefined> {
    const known = this.#headers.get(job.header);
    if (known?.batch === job.batch) return known;
    const header = await readHeader(this.#fleet, job);
    if (header) this.#headers.set(job.header, header);
    return header;
  }

  /** Waits until enough is left for the task beside all others, as long as the worker works. */
  async #take({ hold, lost }: Taken): Promise<Taking> {
    const { store } = this.#fleet;
    const enough = AbortSignal.any([lost, this.#request.signal]);
    for (;;) {
      const taking = await untilReachable(() => store.take(hold), lost);
      if (taking.type !== 'full' || enough.aborted) return taking;
      await pause(ROOM_MS, enough);
    }
  }

  #note({ name, hold, job }: Taken): ResultNote {
    const own = { job: name, attempt: job.attempt, worker: this.#name, word: hold.word };
    return { v: 1, ...own, ...NOTHING };
  }

  /** Whether this worker takes the task at all. If not, throws the reason. */
  async #prepare({ job }: Taken, header: BatchHeader): Promise<{ batch: WorkerBatch; source: CloneSource }> {
    const { trustedKeys, repositories, allowUrls, root } = this.#request;
    const fault = trustedKeys.length > 0 ? signatureFault(job, trustedKeys) : undefined;
    if (fault) throw new Error(fault);
    const places = { repositories, allowUrls, root, git: this.#git, fetching: this.#fetching };
    const source = await findSource(job.source, places);
    const known = this.#shops.get(job.header);
    const opening =
      known ??
      openWorkerBatch(header, job.header, {
        ...{
          root,
          git: this.#git,
          store: this.#fleet.store,
          request: this.#request,
          underWay: this.#underWay,
          connections: this.#connections,
        },
        signal: this.#handBack.signal,
        onNews: (batch, account, news) => this.#announce(batch, account, news),
      });
    this.#shops.set(job.header, opening);
    try {
      return { batch: await opening, source };
    } catch (error) {
      this.#shops.delete(job.header);
      throw error;
    }
  }

  /** Writes this worker's news about the provider into the journal of the batch. */
  #announce(batch: string, account: string, news: GateNews): void {
    this.#request.log(news.message);
    this.#announcer ??= this.#fleet.announcer();
    const event = gateEvent(account, news, this.#name);
    void this.#announcer
      .publishEvent({ eventName: GATE_EVENT, batch, news: JSON.stringify(event) }, MAX_EVENTS)
      .catch(() => {});
  }

  /** Another worker may take it. If none does, that is the result. */
  async #refuse(taken: Taken, reason: string): Promise<TakenEnd> {
    const { name, job, lost } = taken;
    const { store } = this.#fleet;
    const signedReason = `${this.#name}: ${reason}`;
    if (!this.#refused.has(name)) this.#request.tell(`${job.id}: refused: ${reason}`);
    else await pause(REFUSED_MS, this.#handBack.signal);
    this.#refused.add(name);
    const reasons = await untilReachable(() => store.refuse(job.batch, name, this.#name, signedReason), lost);
    return reasons ? { type: 'done', note: { ...this.#note(taken), refused: reasons } } : { type: 'back' };
  }

  async #attempt(begun: Begun, batch: WorkerBatch, source: CloneSource): Promise<TakenEnd> {
    const { job, hold, attempt, lost } = begun;
    const { store } = this.#fleet;
    const stop = new AbortController();
    const onLost = () => stop.abort(failure('cancelled', 'task_lost', 'this worker no longer has the task'));
    const onHandBack = () => stop.abort('SIGTERM');
    lost.addEventListener('abort', onLost, { once: true });
    this.#handBack.signal.addEventListener('abort', onHandBack, { once: true });
    if (this.#handBack.signal.aborted) onHandBack();
    const admission = new SharedAdmission(store, hold, batch.gate, lost);
    const here = new AttemptRunner({
      ...{ attempt: batch.attempt, pool: batch.pool, workspace: batch.folder, reporters: [] },
      emit: async () => {},
      admitFor: (_id, tally) => admission.admitFor(tally),
    });
    const { id, key, prompt, values } = job;
    const task = { index: 0, name: fileNameFor(id), parts: {}, id, key, prompt, values, source };
    const step = { type: 'start', number: attempt, tries: 0 } as const;
    const end = await here.attempt({ task, step }, stop.signal);
    lost.removeEventListener('abort', onLost);
    this.#handBack.signal.removeEventListener('abort', onHandBack);
    await admission.charged();
    const folder = join(batch.folder, 'tasks', task.name, String(attempt));
    try {
      if (lost.aborted) return await this.#late(begun);
      if (stop.signal.aborted && !end.ended) return await this.#giveBack(begun);
      return await this.#deliver(begun, end, folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  async #deliver(begun: Begun, end: TaskEndEvent, folder: string): Promise<TakenEnd> {
    const { attempt, lost, job } = begun;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, 'end.json'), toJsonLine(end), { mode: 0o600 });
    const chosen = chooseFiles(folder, MAX_OUTPUT_BYTES);
    const put = await putResults(this.#fleet, begun, chosen).catch((error: unknown) => {
      if (lost.aborted) return undefined;
      throw error;
    });
    if (!put || lost.aborted) return this.#late(begun);
    if (!(await this.#release(begun, end.ended))) {
      this.#request.tell(`${job.id}: its result is late, and is discarded`);
      return { type: 'lost' };
    }
    this.#done++;
    this.#request.tell(`${job.id}: ${end.status}`);
    return { type: 'done', note: { ...this.#note(begun), attempt, left: chosen.left, ...put } };
  }

  async #giveBack(begun: Begun): Promise<TakenEnd> {
    this.#handedBack++;
    this.#request.tell(`${begun.job.id}: handed back`);
    return { type: (await this.#release(begun, false)) ? 'back' : 'lost' };
  }

  /** Counted once, whether another worker has the task by now or not. */
  async #late(begun: Begun): Promise<TakenEnd> {
    this.#request.tell(`${begun.job.id}: lost to another worker; its result is discarded`);
    const { batch } = begun.hold;
    if (await this.#release(begun, false)) await this.#untilStopped(() => this.#fleet.store.late(batch));
    return { type: 'lost' };
  }

  #release({ hold }: Begun, isFinished: boolean): Promise<boolean> {
    return this.#untilStopped(() => this.#fleet.store.release(hold, isFinished));
  }

  /** Repeats what the server must be told, however long that is away. */
  #untilStopped<T>(tell: () => Promise<T>): Promise<T> {
    return untilReachable(tell, this.#handBack.signal);
  }

  async #beat(): Promise<void> {
    const { concurrency } = this.#request;
    const beat = { id: this.#name, host: hostname(), pid: process.pid, concurrency };
    await this.#fleet.store.beat({ ...beat, running: this.#taker.running, done: this.#done }, this.#everyMs);
  }

  get #everyMs(): number {
    return Math.min(10_000, this.#request.lockMs / 3);
  }

  async #keepBeating(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await pause(this.#everyMs, signal);
      if (!signal.aborted) await this.#beat().catch(() => {});
    }
  }
}
