/** Waits for work that ignores signals, but only until the signal fires; then rejects with its reason. */
export function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Waits for work, but at most this many milliseconds; then rejects with the message. */
export function orTimeout<T>(work: Promise<T>, ms: number, message: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(message)), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Calls back once if a signal fires or has fired. Returns how to stop listening. */
export function onAbort(signal: AbortSignal | undefined, onFired: (reason: unknown) => void): () => void {
  const fired = () => onFired(signal?.reason);
  if (signal?.aborted) fired();
  else signal?.addEventListener('abort', fired, { once: true });
  return () => signal?.removeEventListener('abort', fired);
}
