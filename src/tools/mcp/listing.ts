import { setTimeout as wait } from 'node:timers/promises';

export interface ListingSettings {
  /** Asks the server for its tools, and applies them. Never rejects, and ends by itself. */
  readonly list: () => Promise<void>;
  /** Called once, when no more listings will follow. */
  readonly onTooMany: () => void;
}

export interface Listing {
  /** The server says that its tools have changed. */
  changed(): void;
  /** Waits for a listing in progress, but not for long. Never rejects. */
  settled(signal: AbortSignal): Promise<void>;
  stop(): void;
}

/** The minimum time from the start of one listing to that of the next. */
const GAP_MS = 1000;
/** How long a result waits for tools that its call may have added. */
const PATIENCE_MS = 2000;
export const MAX_LISTINGS = 100;

/**
 * Asks a server for its tools again when it says that they have changed: one listing at a time, at most one more
 * waiting, and not too many in all. The server does not decide how often we ask.
 */
export function createListing({ list, onTooMany }: ListingSettings): Listing {
  const stopped = new AbortController();
  let isWorking = false;
  let again = false;
  let listings = 0;
  let began = -GAP_MS;
  let underWay: Promise<void> | undefined;
  let slow: Promise<void> | undefined;

  async function work(): Promise<void> {
    isWorking = true;
    while (again) {
      const early = began + GAP_MS - performance.now();
      if (early > 0) await wait(early, undefined, { ref: false, signal: stopped.signal }).catch(() => {});
      if (stopped.signal.aborted) return;
      again = false;
      began = performance.now();
      underWay = list();
      await underWay;
      underWay = undefined;
      if (++listings === MAX_LISTINGS) return onTooMany();
    }
    isWorking = false;
  }

  return {
    changed() {
      again = true;
      // Once given up, it stays so.
      if (!isWorking) void work();
    },
    async settled(signal) {
      // A listing that was too slow once is not waited for again.
      if (!underWay || underWay === slow) return;
      const awaited = underWay;
      const patience = new AbortController();
      const either = AbortSignal.any([signal, patience.signal]);
      const tired = wait(PATIENCE_MS, undefined, { ref: false, signal: either }).catch(() => {});
      const isLate = await Promise.race([awaited.then(() => false), tired.then(() => true)]);
      if (isLate) slow = awaited;
      patience.abort();
    },
    stop: () => stopped.abort(),
  };
}
