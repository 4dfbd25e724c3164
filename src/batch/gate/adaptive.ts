import type { RequestEnd } from '../../protocol/admission.js';
import { isRejected, type GateNews, type Regime } from './regime.js';

/** How many requests may be in flight before anything is known. */
const FIRST = 16;
const SHRINK = 0.8;
/** What each clean round of requests adds after a rejection. */
const GROW = 1.05;
const FASTER = 1.01;
/** Slower than what was accepted: a pace that only just fits is too fast at the next hiccup. */
const SLOWER = 1.08;
/** The first wait and the longest, if the server does not say how long to wait. */
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;

interface Episode {
  /** When the wait ends. */
  until: number;
  isOver: boolean;
  /** How many waits were too short. */
  readonly fruitless: number;
  /** Requests still in flight that were sent before it began. */
  before: number;
}

/**
 * Finds out what an account may send. The number of requests in flight grows until the first rejection. From then on
 * there is a pace as well: what was accepted up to the end of the wait. Both then grow slowly.
 *
 * An episode begins with a rejection and lasts until something sent after the wait is accepted: rejections of requests
 * that were in flight count once, and so do waits that were too short.
 */
export class Adaptive implements Regime {
  readonly #most: number;
  #concurrency: number;
  /** Milliseconds between requests; 0 before the first rejection. */
  #everyMs = 0;
  #next = -Infinity;
  #inFlight = 0;
  /** When counting began, and how many requests were accepted since. */
  #since: number | undefined;
  #accepted = 0;
  #round = 0;
  #episode: Episode | undefined;

  constructor(most: number) {
    this.#most = most;
    this.#concurrency = Math.min(FIRST, most);
  }

  earliest(now: number, inFlight: number): number {
    const episode = this.#episode;
    if (episode && !episode.isOver && now >= episode.until) this.#reopen(episode, now);
    if (episode && !episode.isOver) return episode.until;
    // The first one after a wait tests whether it was long enough.
    if (episode && this.#inFlight > episode.before) return Infinity;
    if (inFlight >= Math.floor(this.#concurrency)) return Infinity;
    return Math.max(now, this.#next);
  }

  sent(now: number): void {
    this.#since ??= now;
    this.#inFlight++;
    this.#next = now + this.#everyMs;
  }

  settled(end: RequestEnd, now: number): GateNews | undefined {
    this.#inFlight = Math.max(0, this.#inFlight - 1);
    const episode = this.#episode;
    const isOld = episode !== undefined && episode.before > 0;
    if (isOld) episode.before--;
    if (isRejected(end)) return this.#reject(end.failure?.retryAfterMs, now);
    // A server error says nothing about how much it takes.
    if (end.failure) return undefined;
    this.#accepted++;
    if (!episode) return this.#grow();
    if (isOld) return undefined;
    this.#episode = undefined;
    this.#since = episode.until;
    this.#accepted = 1;
    return { kind: 'reopened', message: 'the provider accepts requests again', ...this.#state() };
  }

  #reject(retryAfterMs: number | undefined, now: number): GateNews | undefined {
    const episode = this.#episode;
    if (episode && !episode.isOver) {
      if (retryAfterMs !== undefined) episode.until = Math.max(episode.until, now + retryAfterMs);
      return undefined;
    }
    const fruitless = episode ? episode.fruitless + 1 : 0;
    const waitMs = retryAfterMs ?? Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** fruitless);
    if (!episode) this.#concurrency = Math.max(1, this.#concurrency * SHRINK);
    this.#episode = { until: now + waitMs, isOver: false, fruitless, before: this.#inFlight };
    this.#round = 0;
    return {
      kind: 'rejected',
      message: 'the provider accepts no more requests for now',
      waitMs,
      ...this.#state(),
    };
  }

  /** The wait is over: the rate accepted until now is the pace from here on. */
  #reopen(episode: Episode, now: number): void {
    episode.isOver = true;
    const everyMs = (episode.until - (this.#since ?? now)) / Math.max(1, this.#accepted);
    this.#everyMs = everyMs * SLOWER;
    this.#next = now;
  }

  #grow(): GateNews | undefined {
    if (++this.#round < this.#concurrency) return undefined;
    this.#round = 0;
    const before = Math.floor(this.#concurrency);
    // Before the first rejection each round doubles it.
    const isPaced = this.#everyMs > 0;
    this.#concurrency = Math.min(this.#most, this.#concurrency * (isPaced ? GROW : 2));
    this.#everyMs /= FASTER;
    if (!isPaced || Math.floor(this.#concurrency) === before) return undefined;
    return { kind: 'grown', message: 'the gate opens a little', ...this.#state() };
  }

  #state(): Pick<GateNews, 'concurrency' | 'requestsPerMinute'> {
    const pace = this.#everyMs > 0 && { requestsPerMinute: Math.round(600_000 / this.#everyMs) / 10 };
    return { concurrency: Math.floor(this.#concurrency), ...pace };
  }
}
