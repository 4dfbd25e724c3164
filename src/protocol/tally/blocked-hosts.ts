import type { NetworkDecisionEvent } from '../event.js';

/** Further ones are only counted. */
const MAX_TOLD = 20;

/** Hosts that commands could not connect to, and how often they tried. */
export class BlockedHosts {
  readonly #times = new Map<string, number>();

  add({ host, port, count: times }: NetworkDecisionEvent): void {
    const place = `${host}:${port}`;
    this.#times.set(place, (this.#times.get(place) ?? 0) + times);
  }

  warnings(): string[] {
    const all = [...this.#times];
    const lines = all.slice(0, MAX_TOLD).map(([place, times]) => {
      return `the sandbox blocked ${place}${times > 1 ? ` (${times} times)` : ''}`;
    });
    const more = all.length - lines.length;
    return more > 0
      ? [...lines, `the sandbox blocked ${more} other destination${more === 1 ? '' : 's'}`]
      : lines;
  }
}
