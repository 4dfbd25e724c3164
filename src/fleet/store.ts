/** One attempt that a worker holds: the word is new each time that a task is taken. */
export interface Hold {
  readonly batch: string;
  readonly job: string;
  readonly word: string;
}

export type Admission =
  | { readonly type: 'go' }
  /** It has its turn after so long; then it asks again. */
  | { readonly type: 'turn'; readonly waitMs: number }
  /** Everybody stays away for so long. */
  | { readonly type: 'wait'; readonly waitMs: number }
  /** Another worker has the task by now, or nobody wants it any more. */
  | { readonly type: 'lost' }
  | { readonly type: 'empty'; readonly of: 'cost' | 'tokens' }
  | { readonly type: 'halted'; readonly halt: string };

/** Whether a worker may begin with a task. */
export type Taking =
  /** It is the worker's from now on, for the so manieth time that somebody has it. */
  | { readonly type: 'begun'; readonly count: number }
  /** What it may need is not left beside what others may need. */
  | { readonly type: 'full' }
  /** Nothing of the batch is begun any more. */
  | { readonly type: 'halted' }
  /** There is no such batch any more. */
  | { readonly type: 'gone' };

export interface Charge {
  /** Of the charges of one hold, in turn from 1: one that comes again was lost on its way, and counts once. */
  readonly number: number;
  readonly costUsd: number;
  readonly tokens: number;
  /** How long everybody stays away, if the provider has refused the request. */
  readonly retryMs?: number;
}

/** What may be spent and sent over all workers. */
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
  /** The last moment at which its coordinator is taken for alive, from now. */
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

/** Who coordinates a batch, and where its folder is: whoever has leased the folder takes over from the dead. */
export interface Claim {
  readonly holder: string;
  readonly place: string;
  readonly forMs: number;
}

export type Claimed =
  { readonly type: 'granted'; readonly state: BatchState } | { readonly type: 'held'; readonly by: string };

/** What workers and coordinators share besides jobs. Each call is one atomic operation, by the clock of the server. */
export interface Store {
  claim(batch: string, claim: Claim, bounds: BatchBounds): Promise<Claimed>;
  /** Gives the claim back; the ledger goes with it if nothing of the batch is left to do. */
  leave(batch: string, holder: string, isOver: boolean): Promise<void>;
  state(batch: string): Promise<BatchState | undefined>;
  batches(): Promise<readonly string[]>;
  take(hold: Hold): Promise<Taking>;
  admit(hold: Hold, model: string, hasTurn: boolean): Promise<Admission>;
  settle(hold: Hold, model: string, charge: Charge): Promise<void>;
  /**
   * Ends the hold. False, and counted, if it was lost before. What a finished task has spent tells what others may
   * need.
   */
  release(hold: Hold, isFinished: boolean): Promise<boolean>;
  /** Nobody works on the task any more, whoever had it. */
  forget(batch: string, job: string): Promise<void>;
  /** Counts a result that nobody takes. */
  late(batch: string): Promise<void>;
  /** No request is sent any more for this reason; undefined lifts it. */
  halt(batch: string, halt: string | undefined): Promise<void>;
  /** Keeps in mind that a worker does not take a job. Resolves with all reasons once no live worker is left. */
  refuse(batch: string, job: string, worker: string, reason: string): Promise<readonly string[] | undefined>;
  beat(worker: WorkerBeat, everyMs: number): Promise<void>;
  gone(worker: string): Promise<void>;
  workers(): Promise<readonly SeenWorker[]>;
  close(): Promise<void>;
}
