import type * as BullMQ from 'bullmq';

/** How far a server's clock is ahead of ours. */
export class ServerClock {
  #aheadMs = 0;

  get aheadMs(): number {
    return this.#aheadMs;
  }

  /** Asked at `askedAt`, and just answered with the server's time. */
  heard(serverMs: number, askedAt: number): void {
    const now = Date.now();
    if (Number.isFinite(serverMs)) this.#aheadMs = Math.round(serverMs - (askedAt + now) / 2);
  }
}

type Factory = typeof BullMQ.createPostgresBackend;
type Run = (command: string, words: readonly unknown[]) => Promise<{ rows: Record<string, unknown>[] }>;

/** A number this close to our time is a time of ours. */
const CLOSE_MS = 5000;
const TIMES = ['added_at_ms', 'process_at_ms', 'processed_at_ms', 'finished_at_ms', 'next_delay'];

/**
 * BullMQ on PostgreSQL records a lock's end by the clock of its holder, and judges it by the clock of whoever asks:
 * with clocks that differ by more than a lock lasts, workers would take each other's tasks. So all times that it
 * sends are converted to the server's clock, and back when received.
 */
export function onServerClock(factory: Factory, clock: ServerClock): Factory {
  return (...args) => {
    const backend = factory(...args);
    const own = backend as unknown as { run?: Run };
    const run = own.run?.bind(backend);
    if (!run) throw new Error('this version of BullMQ is not supported: it reads the time differently');
    own.run = async (command, words) => {
      const now = Date.now();
      const isTime = (word: unknown): word is number =>
        typeof word === 'number' && Math.abs(word - now) < CLOSE_MS;
      const { aheadMs } = clock;
      const found = await run(
        command,
        words.map((word) => (isTime(word) ? word + aheadMs : word)),
      );
      if (aheadMs !== 0) for (const row of found.rows) turnBack(row, aheadMs);
      return found;
    };
    return backend;
  };
}

function turnBack(row: Record<string, unknown>, aheadMs: number): void {
  for (const name of TIMES) {
    const time = row[name];
    if (time !== null && time !== undefined) row[name] = String(Number(time) - aheadMs);
  }
}
