import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Fleet } from '../../fleet/fleet.js';
import { jobName, signatureFault, type BatchHeader, type ResultNote } from '../../fleet/job.js';
import { chooseFiles } from '../../fleet/pack.js';
import { headerOf, putResults, Taker, type Taken, type TakenEnd } from '../../fleet/taker.js';
import { errorMessage } from '../../lib/errors.js';
import { toJsonLine } from '../../lib/jsonl.js';
import { pause } from '../../lib/pause.js';
import { failure } from '../../protocol/outcome.js';
import { Connections } from '../../runs/connections.js';
import { RunsUnderWay } from '../../runs/under-way.js';
import { Here } from '../here.js';
import { fileName } from '../ids.js';
import type { TaskEndEvent } from '../journal/event.js';
import { ownGit, type Git } from '../workspaces/git.js';
import type { CloneSource } from '../workspaces/source.js';
import { findSource } from './find-source.js';
import { SharedAdmission } from './shared-admission.js';
import { openShop, type Shop } from './shop.js';
import type { WorkerRequest } from './worker-request.js';

/** How it ended: `handed_back`: it was told to stop, and tasks were not finished. */
export type WorkerEnd = 'idle' | 'handed_back';

const EMPTY_MS = 500;
/** How long a job that this worker has refused before is kept from it. */
const REFUSED_MS = 1000;
/** Of stored outputs, for one attempt. */
export const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** Takes tasks from a queue, and runs them, until it is told to stop. */
export async function runWorker(request: WorkerRequest): Promise<WorkerEnd> {
  const fleet = await Fleet.open(request.address, request.tell);
  mkdirSync(request.root, { recursive: true, mode: 0o700 });
  try {
    return await new Worker(request, fleet).run();
  } finally {
    await fleet.close();
    rmSync(request.root, { recursive: true, force: true });
  }
}

class Worker {
  readonly #request: WorkerRequest;
  readonly #fleet: Fleet;
  readonly #taker: Taker;
  readonly #git: Git;
  readonly #name = `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`;
  readonly #shops = new Map<string, Promise<Shop>>();
  readonly #refused = new Set<string>();
  readonly #underWay = new RunsUnderWay();
  readonly #connections = new Connections();
  /** Fires when what runs is to be handed back. */
  readonly #handBack = new AbortController();
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
    await this.#untilStopped();
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

  async #untilStopped(): Promise<void> {
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
    const { job, hold, lost } = taken;
    let prepared: { shop: Shop; source: CloneSource } | undefined;
    try {
      const header = await headerOf(this.#fleet, job);
      if (!header) return { type: 'dropped' };
      prepared = await this.#prepare(taken, header);
    } catch (error) {
      lost.throwIfAborted();
      return this.#refuse(taken, errorMessage(error));
    }
    if (!(await this.#fleet.store.take(hold))) return { type: 'dropped' };
    await this.#taker.tellStart(taken);
    this.#request.tell(`${job.id}: begun (attempt ${taken.attempt})`);
    return this.#attempt(taken, prepared.shop, prepared.source);
  }

  /** Whether this worker takes the task at all. Throws with the reason if not. */
  async #prepare({ job }: Taken, header: BatchHeader): Promise<{ shop: Shop; source: CloneSource }> {
    const { trustedKeys, repositories, allowUrls, root } = this.#request;
    const fault = trustedKeys.length > 0 ? signatureFault(job, trustedKeys) : undefined;
    if (fault) throw new Error(fault);
    const source = await findSource(job.source, { repositories, allowUrls, root, git: this.#git });
    const known = this.#shops.get(job.header);
    const opening =
      known ??
      openShop(header, job.header, {
        ...{
          root,
          git: this.#git,
          store: this.#fleet.store,
          request: this.#request,
          underWay: this.#underWay,
          connections: this.#connections,
        },
        signal: this.#handBack.signal,
      });
    this.#shops.set(job.header, opening);
    try {
      return { shop: await opening, source };
    } catch (error) {
      this.#shops.delete(job.header);
      throw error;
    }
  }

  /** Another worker may take it. If none does, that is the result. */
  async #refuse({ name, job, hold, attempt }: Taken, reason: string): Promise<TakenEnd> {
    const told = `${this.#name}: ${reason}`;
    if (!this.#refused.has(name)) this.#request.tell(`${job.id}: refused: ${reason}`);
    else await pause(REFUSED_MS, this.#handBack.signal);
    this.#refused.add(name);
    const reasons = await this.#fleet.store.refuse(job.batch, name, this.#name, told);
    if (!reasons) return { type: 'back' };
    const nothing = { pieces: 0, bytes: 0, sha256: '0'.repeat(64), left: { files: 0, bytes: 0 } };
    return {
      type: 'done',
      note: { v: 1, job: name, attempt, worker: this.#name, word: hold.word, ...nothing, refused: reasons },
    };
  }

  async #attempt(taken: Taken, shop: Shop, source: CloneSource): Promise<TakenEnd> {
    const { job, hold, attempt, lost } = taken;
    const { store } = this.#fleet;
    const stop = new AbortController();
    const onLost = () =>
      stop.abort(failure('cancelled', 'task_lost', 'the task is not of this worker any more'));
    const onHandBack = () => stop.abort('SIGTERM');
    lost.addEventListener('abort', onLost, { once: true });
    this.#handBack.signal.addEventListener('abort', onHandBack, { once: true });
    if (this.#handBack.signal.aborted) onHandBack();
    const admission = new SharedAdmission(store, hold, shop.gate, lost);
    const here = new Here({
      ...{ attempt: shop.attempt, pool: shop.pool, workspace: shop.folder, reporters: [] },
      emit: () => {},
      admitFor: (_id, tally) => admission.admitFor(tally),
    });
    const { id, key, prompt, values } = job;
    const task = { index: 0, name: fileName(id), parts: {}, id, key, prompt, values, source };
    const step = { type: 'start', number: attempt, tries: 0 } as const;
    const end = await here.attempt({ task, step }, stop.signal);
    lost.removeEventListener('abort', onLost);
    this.#handBack.signal.removeEventListener('abort', onHandBack);
    await admission.charged();
    const folder = join(shop.folder, 'tasks', task.name, String(attempt));
    try {
      if (lost.aborted) return await this.#late(taken);
      if (stop.signal.aborted && !end.ended) return await this.#giveBack(taken);
      return await this.#deliver(taken, end, folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  async #deliver(taken: Taken, end: TaskEndEvent, folder: string): Promise<TakenEnd> {
    const { hold, attempt, lost, job } = taken;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, 'end.json'), toJsonLine(end), { mode: 0o600 });
    const chosen = chooseFiles(folder, MAX_OUTPUT_BYTES);
    const put = await putResults(this.#fleet, taken, chosen).catch((error: unknown) => {
      if (lost.aborted) return undefined;
      throw error;
    });
    if (!put || lost.aborted) return this.#late(taken);
    if (!(await this.#fleet.store.release(hold))) {
      this.#request.tell(`${job.id}: its result is late, and is thrown away`);
      return { type: 'dropped' };
    }
    this.#done++;
    this.#request.tell(`${job.id}: ${end.status}`);
    const note: ResultNote = {
      v: 1,
      job: jobName(job),
      ...{ attempt, worker: this.#name, left: chosen.left },
      ...put,
    };
    return { type: 'done', note };
  }

  async #giveBack({ hold, job }: Taken): Promise<TakenEnd> {
    this.#handedBack++;
    this.#request.tell(`${job.id}: handed back`);
    return (await this.#fleet.store.release(hold)) ? { type: 'back' } : { type: 'dropped' };
  }

  /** Counted once, whether somebody else has the task by now or not. */
  async #late({ hold, job }: Taken): Promise<TakenEnd> {
    this.#request.tell(`${job.id}: lost to the queue; what it did is thrown away`);
    const { store } = this.#fleet;
    if (await store.release(hold)) await store.late(hold.batch);
    throw new Error('the task is not ours any more');
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
