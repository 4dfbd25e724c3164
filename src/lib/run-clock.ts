import { MAX_TIMER_MS } from './duration.js';

/** The time of a run, without its waits for others. */
export class RunClock {
  #started: number;
  #stoodMs = 0;
  /** How many calls wait now, and since when one does. */
  #waiting = 0;
  #since = 0;
  #alarm: { readonly ms: number; readonly ring: () => void; timer?: NodeJS.Timeout } | undefined;

  /** `beforeMs` were used before this start. */
  constructor(beforeMs = 0) {
    this.#started = performance.now() - beforeMs;
  }

  get elapsedMs(): number {
    const now = this.#waiting > 0 ? this.#since : performance.now();
    return now - this.#started - this.#stoodMs;
  }

  /** How long it has been stopped, up to now. */
  get waitedMs(): number {
    return this.#stoodMs + (this.#waiting > 0 ? performance.now() - this.#since : 0);
  }

  /** Subtracts time that is not its own. */
  discount(ms: number): void {
    this.#started += ms;
    this.#set();
  }

  /** Stops while it waits. */
  async wait<T>(waiting: () => Promise<T>): Promise<T> {
    if (this.#waiting++ === 0) {
      this.#since = performance.now();
      clearTimeout(this.#alarm?.timer);
    }
    try {
      return await waiting();
    } finally {
      if (--this.#waiting === 0) {
        this.#stoodMs += performance.now() - this.#since;
        this.#set();
      }
    }
  }

  /** Calls back once after this much of its time. */
  setAlarm(ms: number, ring: () => void): void {
    this.clearAlarm();
    this.#alarm = { ms, ring };
    this.#set();
  }

  clearAlarm(): void {
    clearTimeout(this.#alarm?.timer);
    this.#alarm = undefined;
  }

  #set(): void {
    const alarm = this.#alarm;
    if (!alarm || this.#waiting > 0) return;
    clearTimeout(alarm.timer);
    const leftMs = Math.max(0, alarm.ms - this.elapsedMs);
    alarm.timer = setTimeout(alarm.ring, Math.min(leftMs, MAX_TIMER_MS));
  }
}
