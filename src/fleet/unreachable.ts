import { errorCode, errorMessage } from '../lib/errors.js';
import { pause } from '../lib/pause.js';

const RETRY_MS = 500;

/** Codes of the system and of PostgreSQL: connections, conflicts, lack of resources, shutdown or start. */
const AWAY_CODES = /^(?:E[A-Z]+|08...|40...|53...|57P0.)$/;
/** Clients' messages without such a code, and those of Redis while it loads, is full, or follows another server. */
const AWAY_WORDS =
  /connection (?:is closed|terminated|ended|lost)|connect(?:ion)? timeout|timeout (?:exceeded|expired)|closed connection|^(?:LOADING|OOM|READONLY|MASTERDOWN|CLUSTERDOWN|BUSY|TRYAGAIN)\b/i;

/** Whether a server cannot do something now, but may later. */
export function isUnreachable(error: unknown): boolean {
  return AWAY_CODES.test(errorCode(error) ?? '') || AWAY_WORDS.test(errorMessage(error));
}

/** Calls a server again and again while it is away. Rejects with the last reason once the signal fires. */
export async function untilReachable<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (signal.aborted || !isUnreachable(error)) throw error;
      await pause(RETRY_MS, signal);
    }
  }
}
