import type { TranscriptLine } from '../protocol/event.js';
import type { JournalLine } from './journal/event.js';
import type { BatchStory } from './reporters/story.js';

/** Reads along with a batch. */
export interface BatchReporter {
  /** Each line of the journal that this start writes. */
  event(line: JournalLine): void;
  /** Each event of each task that runs. */
  task?(id: string, line: TranscriptLine): void;
  /** Once, behind the last line: what became of everything. */
  end?(story: BatchStory): void;
}
