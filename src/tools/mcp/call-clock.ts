import { formatDuration } from '../../lib/duration.js';
import type { ToolError } from '../../protocol/tool-error.js';

export interface CallLimits {
  readonly timeoutMs: number;
  readonly idleTimeoutMs: number;
}

export interface CallClock {
  readonly signal: AbortSignal;
  signOfLife(): void;
  /** Why the call was ended, if it was. */
  ended(): ToolError | undefined;
  stop(): void;
}

/** The time limits of one call: in all, and without a sign of life. */
export function callClock({ timeoutMs, idleTimeoutMs }: CallLimits, signal: AbortSignal): CallClock {
  const stop = new AbortController();
  let why: ToolError | undefined;
  const end = (error: ToolError) => {
    why ??= error;
    stop.abort(new Error(error.message));
  };
  const timedOut = (ms: number, what: string) =>
    end({
      type: 'timeout',
      message: `No result within ${formatDuration(ms)}${what}; the call was cancelled.`,
    });
  const onAbort = () => end({ type: 'cancelled', message: 'Cancelled while it ran.' });
  const total = setTimeout(timedOut, timeoutMs, timeoutMs, '');
  const idle = setTimeout(timedOut, idleTimeoutMs, idleTimeoutMs, ' without progress');
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  return {
    signal: stop.signal,
    signOfLife: () => void idle.refresh(),
    ended: () => why,
    stop: () => {
      clearTimeout(total);
      clearTimeout(idle);
      signal.removeEventListener('abort', onAbort);
    },
  };
}
