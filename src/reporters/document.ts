import type { TranscriptLine } from '../protocol/event.js';

/** A report written when a run is over. It reads events and does not know where it goes. */
export interface RunDocument {
  /** Takes the events of a run in order, all parts of it if it was resumed. */
  add(line: TranscriptLine): void;
  /** The whole report, in pieces since it may be long. There is no result if the run was killed. */
  pieces(): Iterable<string>;
}

/** A report for the CI runner: commands that it obeys, and a summary for its page. */
export interface RunnerReport {
  add(line: TranscriptLine): void;
  /** Commands, one per line. */
  annotations(): string;
  /** Markdown of at most `room` bytes. */
  summary(room: number): string;
}

/** What is measured, and what is traced. */
export type Signal = 'traces' | 'metrics';

export interface Payload {
  readonly signal: Signal;
  readonly body: object;
}

/** A report for a server that collects those of many programs. */
export interface CollectorReport {
  add(line: TranscriptLine): void;
  payloads(): readonly Payload[];
}
