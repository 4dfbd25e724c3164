import { MAX_TIMER_MS } from '../../lib/duration.js';
import type { RequestEnd } from '../../protocol/admission.js';
import { isRejected, type GateNews, type Regime } from './regime.js';

interface Waiting {
  readonly hasBegun: boolean;
  /** False: no more requests may be sent. */
  readonly go: (isOpen: boolean) => void;
}

export interface LaneSettings {
  readonly retryTimeMs: number;
  readonly onNews: (news: GateNews) => void;
  /** Nothing is accepted any more; until when, if known. */
  readonly onExhausted: (resetMs: number | undefined) => void;
}

/** How long all requests wait after a rejection, if no rule says so. */
const DEFAULT_WAIT_MS = 1000;

/** The requests for one model: tasks that have begun go first, and all wait if one was told to. */
export class Lane {
  readonly #regimes: readonly Regime[];
  readonly #settings: LaneSettings;
  readonly #waiting: Waiting[] = [];
  #inFlight = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #closedUntil = -Infinity;
  /** Since when nothing has been accepted. */
  #rejectedSince: number | undefined;

  constructor(regimes: readonly Regime[], settings: LaneSettings) {
    this.#regimes = regimes;
    this.#settings = settings;
  }

  /** True when a request may be sent; false once the gate is closed. Rejects if the signal fires before. */
  enter(hasBegun: boolean, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        hasBegun,
        go: (isOpen) => {
          signal.removeEventListener('abort', onAbort);
          resolve(isOpen);
        },
      };
      const onAbort = () => {
        const at = this.#waiting.indexOf(waiting);
        if (at >= 0) this.#waiting.splice(at, 1);
        reject(signal.reason as Error);
      };
      if (signal.aborted) return reject(signal.reason as Error);
      if (this.#isClosed) return resolve(false);
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(waiting);
      this.#pump();
    });
  }

  /** No more requests may be sent, and those waiting are told. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const { go } of this.#waiting.splice(0)) go(false);
  }

  leave(end: RequestEnd): void {
    const now = performance.now();
    this.#inFlight--;
    if (isRejected(end)) this.#reject(end, now);
    else if (!end.failure) this.#rejectedSince = undefined;
    for (const regime of this.#regimes) {
      const news = regime.settled(end, now);
      if (news) this.#settings.onNews(news);
    }
    this.#pump();
  }

  #reject({ failure }: RequestEnd, now: number): void {
    const { retryAfterMs, resetMs } = failure ?? {};
    this.#closedUntil = Math.max(this.#closedUntil, now + (retryAfterMs ?? DEFAULT_WAIT_MS));
    this.#rejectedSince ??= now;
    const isOver = this.#closedUntil - this.#rejectedSince > this.#settings.retryTimeMs;
    if (failure?.retryable === false || isOver) this.#settings.onExhausted(resetMs ?? retryAfterMs);
  }

  #pump(): void {
    clearTimeout(this.#timer);
    while (this.#waiting.length > 0) {
      const now = performance.now();
      const times = this.#regimes.map((regime) => regime.earliest(now, this.#inFlight));
      const at = Math.max(this.#closedUntil, ...times);
      if (at > now) {
        // A request that ends pumps again.
        if (at !== Infinity) this.#timer = setTimeout(() => this.#pump(), Math.min(at - now, MAX_TIMER_MS));
        return;
      }
      const first = this.#waiting.findIndex(({ hasBegun }) => hasBegun);
      const [next] = this.#waiting.splice(Math.max(0, first), 1);
      for (const regime of this.#regimes) regime.sent(now);
      this.#inFlight++;
      next?.go(true);
    }
  }
}
