import type { TranscriptLine } from '../protocol/event.js';
import type { JournalLine, TaskResult } from './journal/event.js';

/** Reads along with a batch. */
export interface BatchReporter {
  /** Each line of the journal that this start writes. */
  event(line: JournalLine): void;
  /** Each event of each task that runs. */
  task?(id: string, line: TranscriptLine): void;
  /** What became of all tasks, once the batch is over. Comes before its `batch_result`. */
  results?(results: readonly TaskResult[]): void;
}
