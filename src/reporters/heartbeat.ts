import { oneLine, revealedLine } from '../lib/text.js';
import type { Reporter, RetryEvent, TranscriptLine } from '../protocol/event.js';
import { statusLine } from './progress.js';
import { Summary } from './summary.js';

export const HEARTBEAT_MS = 30_000;

/** With the prefix of a log, a line has at most 200 characters. */
export const LINE_WIDTH = 185;

/** Says where a run is whenever nothing was printed for a while, until the run ends. */
export class Heartbeat implements Reporter {
  readonly #summary = new Summary();
  readonly #started = performance.now();
  readonly #timer: NodeJS.Timeout;
  #live = '';
  #ended = false;

  constructor(say: (line: string) => void, { intervalMs }: { readonly intervalMs: number }) {
    const beat = () =>
      say(revealedLine(statusLine(this.#summary, performance.now() - this.#started, this.#live), LINE_WIDTH));
    this.#timer = setInterval(beat, intervalMs).unref();
  }

  /** Something was printed: the next heartbeat can wait its full interval. */
  heard(): void {
    if (!this.#ended) this.#timer.refresh();
  }

  event(line: TranscriptLine): void {
    this.#summary.add(line);
    if (line.type === 'tool_result') this.#live = '';
    if (line.type !== 'result') return;
    this.#ended = true;
    clearInterval(this.#timer);
  }

  live(text: string): void {
    this.#live = oneLine(text.trimEnd().split('\n').at(-1) ?? '', 60);
  }
}

/** What went wrong, cut if necessary, and at the end how it goes on. */
export function retryLine({ message }: RetryEvent): string {
  const at = message.lastIndexOf('; ');
  if (message.length <= LINE_WIDTH || at < 0) return oneLine(message, LINE_WIDTH);
  const next = oneLine(message.slice(at), 80);
  return `${oneLine(message.slice(0, at), LINE_WIDTH - next.length)}${next}`;
}

/** Only the heartbeat, and a line for every wait. */
export function heartbeatReporter(say: (line: string) => void, intervalMs = HEARTBEAT_MS): Reporter {
  const heartbeat = new Heartbeat(say, { intervalMs });
  return {
    event(line) {
      heartbeat.event(line);
      if (line.type !== 'retry' || line.wait_ms === 0) return;
      say(retryLine(line));
      heartbeat.heard();
    },
    live: (text) => heartbeat.live(text),
  };
}
