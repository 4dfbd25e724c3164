import type { RequestEnd } from '../../protocol/admission.js';
import { isRejected, type GateNews, type Regime } from './regime.js';

/** How many requests are on their way at once before anything is known. */
const FIRST = 16;
const SHRINK = 0.8;
/** What a clean round of requests adds once there was a rejection. */
const GROW = 1.05;
/** Where the server does not say how long to stay away: the first wait, and the longest. */
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;

/**
 * Finds out what an account may send. The number of requests at once grows until the first rejection. From then on
 * there is a pace as well: what was accepted up to the end of the wait that the server asked for. Both grow slowly again.
 */
export class Adaptive implements Regime {
  readonly #most: number;
  #concurrency: number;
  /** Milliseconds between requests; 0 before anything was rejected. */
  #everyMs = 0;
  #next = -Infinity;
  #closedUntil = -Infinity;
  #isPaced = false;
  /** Requests that were accepted since, and in this round. */
  #since: number | undefined;
  #accepted = 0;
  #round = 0;
  #fruitless = 0;

  constructor(most: number) {
    this.#most = most;
    this.#concurrency = Math.min(FIRST, most);
  }

  earliest(now: number, inFlight: number): number {
    if (inFlight >= Math.floor(this.#concurrency)) return Infinity;
    return Math.max(now, this.#closedUntil, this.#next);
  }

  sent(now: number): void {
    this.#since ??= now;
    this.#next = now + this.#everyMs;
  }

  settled(end: RequestEnd, now: number): GateNews | undefined {
    if (isRejected(end)) return this.#reject(end.failure?.retryAfterMs, now);
    // An error of the server says nothing about how much it takes.
    if (end.failure) return undefined;
    this.#accepted++;
    this.#fruitless = 0;
    return this.#grow();
  }

  /** An episode is all that comes back before its wait is over: the answers to what was on its way count once. */
  #reject(retryAfterMs: number | undefined, now: number): GateNews | undefined {
    if (now < this.#closedUntil) {
      if (retryAfterMs !== undefined) this.#closedUntil = Math.max(this.#closedUntil, now + retryAfterMs);
      return undefined;
    }
    const guess = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#fruitless++);
    const waitMs = retryAfterMs ?? guess;
    this.#closedUntil = now + waitMs;
    this.#concurrency = Math.max(1, this.#concurrency * SHRINK);
    this.#isPaced = true;
    const lasted = this.#closedUntil - (this.#since ?? now);
    const measured = lasted / Math.max(1, this.#accepted);
    // Of two measures the slower one counts: a short episode may have seen the end of a longer window only.
    this.#everyMs = this.#accepted > 0 ? measured : Math.max(this.#everyMs * 2, waitMs);
    this.#next = this.#closedUntil;
    this.#since = this.#closedUntil;
    this.#accepted = 0;
    this.#round = 0;
    return { kind: 'rejected', message: 'the provider takes no more for now', waitMs, ...this.#state() };
  }

  #grow(): GateNews | undefined {
    if (++this.#round < this.#concurrency) return undefined;
    this.#round = 0;
    const before = Math.floor(this.#concurrency);
    // Before the first rejection each round doubles it.
    const grown = this.#isPaced ? this.#concurrency * GROW : this.#concurrency * 2;
    this.#concurrency = Math.min(this.#most, grown);
    this.#everyMs /= GROW;
    if (!this.#isPaced || Math.floor(this.#concurrency) === before) return undefined;
    return { kind: 'grown', message: 'the gate opens a little', ...this.#state() };
  }

  #state(): Pick<GateNews, 'concurrency' | 'requestsPerMinute'> {
    const pace = this.#everyMs > 0 && { requestsPerMinute: Math.round(600_000 / this.#everyMs) / 10 };
    return { concurrency: Math.floor(this.#concurrency), ...pace };
  }
}
