import { oneLine } from '../lib/text.js';
import type { Reporter } from '../protocol/event.js';
import { statusOf } from './progress.js';
import { Summary } from './summary.js';

export const HEARTBEAT_MS = 30_000;

/** One line now and then, so that a log shows that the run is alive and where it is; and one for every wait. */
export function heartbeatReporter(say: (line: string) => void, intervalMs = HEARTBEAT_MS): Reporter {
  const summary = new Summary();
  const started = performance.now();
  const timer = setInterval(() => say(statusOf(summary, performance.now() - started)), intervalMs);
  timer.unref();
  return {
    event(line) {
      summary.add(line);
      if (line.type === 'retry' && line.wait_ms > 0) say(oneLine(line.message, 300));
      if (line.type === 'result') clearInterval(timer);
    },
  };
}
