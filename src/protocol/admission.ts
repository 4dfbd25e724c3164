import type { Tier } from './model-settings.js';
import type { Outcome } from './outcome.js';
import type { ModelFailure } from './provider.js';
import type { Usage } from './usage.js';

/** How a request that was let through ended. */
export interface RequestEnd {
  readonly usage?: Usage | undefined;
  /** Absent if the usage or the price is not known. */
  readonly costUsd?: number | undefined;
  /** Absent if there was an answer. */
  readonly failure?: ModelFailure;
}

/** Permission to send one request. */
export interface Permit {
  readonly type: 'permit';
  /** Called once, when there is an answer or none. */
  settle(end: RequestEnd): void;
}

/** No more requests are sent: the run ends like this. */
export interface Refusal {
  readonly type: 'refusal';
  readonly outcome: Outcome;
}

/** Whose quota a request is charged to. */
export interface RequestTarget {
  readonly provider: string;
  readonly model: string;
  readonly tier: Tier;
  /** If it is not admitted, another model or tier may be. */
  readonly hasFallback: boolean;
}

/**
 * Asked before each request to a model, by any run: several may share a rate and a budget. Its waiting time does not
 * count as the run's; rejects if the signal fires meanwhile.
 */
export type Admit = (target: RequestTarget, signal: AbortSignal) => Promise<Permit | Refusal>;
