import { readFileSync } from 'node:fs';

/** Waits for something to become true; fails after the deadline instead of hanging, which is long for a busy machine. */
export async function until(condition: () => boolean, what: string, deadlineMs = 60_000): Promise<void> {
  const end = performance.now() + deadlineMs;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A zombie is dead: nobody may be there to reap it. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}
