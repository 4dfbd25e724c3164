import type { NetworkDecision } from '../../protocol/event.js';

type Decided = Omit<NetworkDecision, 'count'>;

/** A program that asks for more different places than this gets no further ones. */
const MAX_PLACES = 1000;

/** Reports each decision once, immediately; its repeats are counted and reported at the end. */
export class Decisions {
  readonly #tell: (decision: NetworkDecision) => void;
  readonly #repeats = new Map<string, { readonly decision: Decided; times: number }>();
  readonly #maxPlaces: number;
  #closed = false;

  constructor(tell: (decision: NetworkDecision) => void, maxPlaces = MAX_PLACES) {
    this.#tell = tell;
    this.#maxPlaces = maxPlaces;
  }

  /** The decision that counts: what can no longer be reported is not allowed. */
  add(decision: Decided): Decided {
    const key = decisionKey(decision);
    const known = this.#repeats.get(key);
    if (known) {
      known.times++;
      return decision;
    }
    if (this.#repeats.size >= this.#maxPlaces && decision.host !== OTHERS) {
      const reason = `commands asked for more than ${this.#maxPlaces} different destinations`;
      return this.add({ host: OTHERS, port: 0, scheme: decision.scheme, decision: 'deny', reason });
    }
    this.#repeats.set(key, { decision, times: 0 });
    if (!this.#closed) this.#tell({ ...decision, count: 1 });
    return decision;
  }

  /** Reports the repeats. */
  close(): void {
    this.#closed = true;
    for (const { decision, times } of this.#repeats.values()) {
      if (times > 0) this.#tell({ ...decision, count: times });
    }
    this.#repeats.clear();
  }
}

/** For places that are too many to be named. */
const OTHERS = '*';

function decisionKey({ host, port, scheme, decision }: Decided): string {
  return `${decision} ${scheme} ${host}:${port}`;
}
