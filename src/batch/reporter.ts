import type { TranscriptLine } from '../protocol/event.js';
import type { JournalLine } from './journal/event.js';
import type { BatchStory } from './reporters/story.js';

/** Follows a batch. */
export interface BatchReporter {
  /** Gets each line of the journal that this start writes. */
  event(line: JournalLine): void;
  /** Gets each event of each running task. */
  task?(id: string, line: TranscriptLine): void;
  /** Called once, after the last line, with how everything ended. */
  end?(story: BatchStory): void;
}
