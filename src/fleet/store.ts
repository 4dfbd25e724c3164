/** One attempt that a worker holds: the word is new each time that a task is taken. */
export interface Hold {
  readonly batch: string;
  readonly job: string;
  readonly word: string;
}

export type Admission =
  | { readonly type: 'go' }
  /** Its turn comes after this long; then it asks again. */
  | { readonly type: 'turn'; readonly waitMs: number }
  /** All workers wait this long. */
  | { readonly type: 'wait'; readonly waitMs: number }
  /** Another worker has the task by now, or it is no longer needed. */
  | { readonly type: 'lost' }
  | { readonly type: 'empty'; readonly of: 'cost' | 'tokens' }
  | { readonly type: 'halted'; readonly halt: string };

/** Whether a worker may begin a task. */
export type Taking =
  /** It now belongs to the worker; `count` says how often it was taken. */
  | { readonly type: 'begun'; readonly count: number }
  /** Not enough is left for it beside what others may need. */
  | { readonly type: 'full' }
  /** Nothing of the batch may begin any more. */
  | { readonly type: 'halted' }
  /** The batch no longer exists. */
  | { readonly type: 'gone' };

export interface Charge {
  /** Among the charges of one hold, from 1: a repeated one was lost on its way, and counts once. */
  readonly number: number;
  readonly costUsd: number;
  readonly tokens: number;
  /** How long all workers wait, if the provider has rejected the request. */
  readonly retryMs?: number;
}

/** What all workers together may spend and send. */
export interface BatchBounds {
  readonly name: string;
  readonly total: number;
  readonly costUsd?: number;
  readonly tokens?: number;
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  /** What one task may need at most, if that is limited. */
  readonly task: { readonly costUsd?: number; readonly tokens?: number };
  /** What was spent before there was a ledger. */
  readonly spent: { readonly costUsd: number; readonly tokens: number };
}

export interface BatchState {
  readonly name: string;
  readonly total: number;
  readonly costUsd: number;
  readonly tokens: number;
  readonly requests: number;
  readonly rejected: number;
  readonly late: number;
  readonly limitUsd?: number;
  readonly limitTokens?: number;
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  readonly halt?: string;
  /** How much longer its coordinator counts as alive. */
  readonly coordinatedMs: number;
}

export interface WorkerBeat {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly concurrency: number;
  readonly running: number;
  readonly done: number;
}

export interface SeenWorker extends WorkerBeat {
  readonly seenMsAgo: number;
}

/** Who coordinates a batch, and where its folder is: whoever leases that takes over from a dead one. */
export interface Claim {
  readonly holder: string;
  readonly place: string;
  readonly forMs: number;
}

export type Claimed =
  { readonly type: 'granted'; readonly state: BatchState } | { readonly type: 'held'; readonly by: string };

/** What workers and coordinators share besides jobs. Each call is one atomic operation, by the server's clock. */
export interface Store {
  claim(batch: string, claim: Claim, bounds: BatchBounds): Promise<Claimed>;
  /** Gives the claim back; if nothing of the batch is left to do, also removes the ledger. */
  leave(batch: string, holder: string, isOver: boolean): Promise<void>;
  state(batch: string): Promise<BatchState | undefined>;
  batches(): Promise<readonly string[]>;
  take(hold: Hold): Promise<Taking>;
  admit(hold: Hold, model: string, hasTurn: boolean): Promise<Admission>;
  settle(hold: Hold, model: string, charge: Charge): Promise<void>;
  /**
   * Ends the hold. False, and counted, if it was lost before. A finished task's spending tells what others may
   * need.
   */
  release(hold: Hold, isFinished: boolean): Promise<boolean>;
  /** No worker has the task any more, whichever had it. */
  forget(batch: string, job: string): Promise<void>;
  /** Counts a result that is not used. */
  late(batch: string): Promise<void>;
  /** No more requests are sent for this reason; undefined lifts it. */
  halt(batch: string, halt: string | undefined): Promise<void>;
  /** Records that a worker does not take a job. Resolves with all reasons once no live worker is left. */
  refuse(batch: string, job: string, worker: string, reason: string): Promise<readonly string[] | undefined>;
  beat(worker: WorkerBeat, everyMs: number): Promise<void>;
  gone(worker: string): Promise<void>;
  workers(): Promise<readonly SeenWorker[]>;
  close(): Promise<void>;
}
