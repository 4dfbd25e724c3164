import type { RequestEnd } from '../../protocol/admission.js';
import type { Regime } from './regime.js';

const MINUTE = 60_000;
/** A little slower than allowed: requests take different times to arrive, and the server counts arrivals. */
const SLACK = 1.03;

/** A number of requests per minute, evenly: no window of some seconds gets more than its share. */
export class Pace implements Regime {
  readonly #everyMs: number;
  #next = -Infinity;

  constructor(requestsPerMinute: number) {
    this.#everyMs = (MINUTE / requestsPerMinute) * SLACK;
  }

  earliest(now: number): number {
    return Math.max(now, this.#next);
  }

  sent(now: number): void {
    this.#next = now + this.#everyMs;
  }

  settled(): undefined {
    return undefined;
  }
}

/** A number of tokens per minute: nothing starts while the last minute has used them up. */
export class TokenWindow implements Regime {
  readonly #perMinute: number;
  readonly #used: { readonly at: number; readonly tokens: number }[] = [];
  #sum = 0;

  constructor(tokensPerMinute: number) {
    this.#perMinute = tokensPerMinute;
  }

  earliest(now: number): number {
    this.#forget(now);
    if (this.#sum < this.#perMinute) return now;
    let left = this.#sum;
    for (const { at, tokens } of this.#used) {
      left -= tokens;
      if (left < this.#perMinute) return at + MINUTE;
    }
    return now;
  }

  sent(): void {}

  settled({ usage }: RequestEnd, now: number): undefined {
    const tokens = usage?.total ?? (usage?.prompt ?? 0) + (usage?.output ?? 0);
    if (tokens <= 0) return;
    this.#used.push({ at: now, tokens });
    this.#sum += tokens;
  }

  #forget(now: number): void {
    while (this.#used[0] && this.#used[0].at + MINUTE <= now) this.#sum -= this.#used.shift()?.tokens ?? 0;
  }
}
