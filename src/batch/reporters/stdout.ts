import { toJsonLine } from '../../lib/jsonl.js';
import { neutralizeCommands } from '../../lib/text.js';
import type { JournalLine } from '../journal/event.js';
import type { BatchReporter } from '../reporter.js';
import { stateLines, taskLine } from './lines.js';

export interface BatchStdout {
  readonly write: (text: string) => void;
  /** A CI runner reads stdout and obeys commands in it. */
  readonly guardCommands: boolean;
}

/** All that a batch prints. */
export function batchStdout(format: 'text' | 'json' | 'stream-json', options: BatchStdout): BatchReporter {
  const { write, guardCommands } = options;
  const say = (line: string) => write(`${guardCommands ? neutralizeCommands(line) : line}\n`);
  switch (format) {
    case 'text':
      return {
        event: (line) => {
          if (line.type === 'task_end') say(taskLine(line));
          else if (line.type === 'batch_result') stateLines(line).forEach(say);
        },
      };
    case 'json':
      return {
        event: (line) => line.type === 'batch_result' && write(`${toJsonLine(withoutPrevious(line))}\n`),
      };
    case 'stream-json':
      return { event: (line) => write(`${toJsonLine(withoutPrevious(line))}\n`) };
    default:
      return format satisfies never;
  }
}

/** Without the field that only the chain needs. */
function withoutPrevious({ prev: _prev, ...line }: JournalLine): object {
  return line;
}
