import type { Outcome } from '../protocol/outcome.js';

/** A user who ends a run waits for it to be gone. */
const HURRY_MS = 3000;

/** Enough time to look at the changes of a run, and a little once it is cancelled or its time is up. */
export function lookDeadline(
  outcome: Outcome,
  cancel: AbortSignal | undefined,
  ms: number,
): { readonly stop: AbortSignal; readonly release: () => void } {
  const stop = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  const wait = (most: number) => timers.push(setTimeout(() => stop.abort(), most));
  const hurry = () => wait(HURRY_MS);
  wait(ms);
  if (outcome.status === 'cancelled' || cancel?.aborted) hurry();
  else cancel?.addEventListener('abort', hurry, { once: true });
  const release = () => {
    timers.forEach(clearTimeout);
    cancel?.removeEventListener('abort', hurry);
  };
  return { stop: stop.signal, release };
}
