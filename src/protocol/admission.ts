import type { Tier } from './model-settings.js';
import type { Outcome } from './outcome.js';
import type { ModelFailure } from './provider.js';
import type { Usage } from './usage.js';

/** What became of a request that was let through. */
export interface RequestEnd {
  readonly usage?: Usage | undefined;
  /** Absent if the usage or the price is not known. */
  readonly costUsd?: number | undefined;
  /** Absent if there was an answer. */
  readonly failure?: ModelFailure;
}

/** Leave to send one request. */
export interface Permit {
  readonly type: 'permit';
  /** Called once, when there is an answer or none. */
  settle(end: RequestEnd): void;
}

/** No more requests are sent: the run ends so. */
export interface Refusal {
  readonly type: 'refusal';
  readonly outcome: Outcome;
}

/** Whose quota a request is charged to. */
export interface RequestTarget {
  readonly provider: string;
  readonly model: string;
  readonly tier: Tier;
  /** Where it is not taken, another model or tier may take it. */
  readonly hasFallback: boolean;
}

/**
 * Asked before each request to a model, by whichever run: several of them may share a rate and a budget. It may take
 * its time, which does not count as the run's; rejects if the signal fires meanwhile.
 */
export type Admit = (target: RequestTarget, signal: AbortSignal) => Promise<Permit | Refusal>;
