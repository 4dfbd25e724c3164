/** Waits for work that knows nothing of a signal, and no longer than until the signal fires; rejects with its reason. */
export function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Waits for work, and no longer than so many milliseconds; rejects with the message then. */
export function orTimeout<T>(work: Promise<T>, ms: number, message: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(message)), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Tells once that a signal has fired, be it before. Returns how to stop listening. */
export function onAbort(signal: AbortSignal | undefined, onFired: (reason: unknown) => void): () => void {
  const fired = () => onFired(signal?.reason);
  if (signal?.aborted) fired();
  else signal?.addEventListener('abort', fired, { once: true });
  return () => signal?.removeEventListener('abort', fired);
}
