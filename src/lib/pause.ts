/** The longest timer of Node; a longer one would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** Waits, but only until the signal fires. Leaves no timer and no listener. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, Math.min(ms, LONGEST_MS));
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
}
