import type { TranscriptLine } from '../../protocol/event.js';

/** The time of an event, in milliseconds since the run began. Time between the parts of a run does not count. */
export class Clock {
  #begin: number | undefined;
  #last = 0;
  #ended = false;

  at({ timestamp, type }: Pick<TranscriptLine, 'timestamp' | 'type'>): number {
    const now = Date.parse(timestamp);
    if (!Number.isFinite(now)) return this.#last;
    this.#begin ??= now;
    // The run was resumed: its clock goes on where it stopped.
    if (this.#ended || type === 'init') this.#begin = now - this.#last;
    this.#ended = type === 'result';
    this.#last = Math.max(this.#last, now - this.#begin);
    return this.#last;
  }

  /** The time of the last event. */
  get now(): number {
    return this.#last;
  }
}
