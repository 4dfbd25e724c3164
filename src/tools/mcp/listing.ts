import { setTimeout as wait } from 'node:timers/promises';

export interface ListingSettings {
  /** Asks the server for its tools, and takes them over. Never rejects, and ends by itself. */
  readonly list: () => Promise<void>;
  /** Called once, when nothing will be asked for any more. */
  readonly onTooMany: () => void;
}

export interface Listing {
  /** The server says that its tools are others than before. */
  changed(): void;
  /** Waits for a listing that is under way, but not for long. Never rejects. */
  settled(signal: AbortSignal): Promise<void>;
  stop(): void;
}

/** A listing begins this long after the last one began, or later. */
const GAP_MS = 1000;
/** How long a result waits for the tools that it may have brought about. */
const PATIENCE_MS = 2000;
export const MAX_LISTINGS = 100;

/**
 * Asks a server for its tools again when it says that they have changed: one listing at a time, at most one more
 * waits for its turn, and not too many in all. How often we ask is not for the server to choose.
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
      // Where the work was given up it stays so.
      if (!isWorking) void work();
    },
    async settled(signal) {
      // One that was waited for in vain is not waited for again.
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
