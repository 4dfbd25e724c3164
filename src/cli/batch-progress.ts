import type { BatchReporter } from '../batch/reporter.js';
import { LiveTable } from '../batch/reporters/live.js';
import { batchProgress } from '../batch/reporters/progress.js';
import type { Log } from '../lib/log.js';
import { painter } from '../lib/paint.js';
import type { BatchRunFlags } from './flags/batch.js';
import type { StderrFlags } from './flags/table.js';
import { progressFor } from './show-run.js';
import type { Terminal } from './terminal.js';

type ShowFlags = StderrFlags & Pick<BatchRunFlags, 'outputFormat' | 'progress'>;

export interface BatchShown {
  readonly reporters: readonly BatchReporter[];
  /** Prints to stdout, which may be the screen that shows progress. */
  readonly print: (text: string) => void;
}

/** What stderr shows during a batch. */
export function batchShown(flags: ShowFlags, log: Log, terminal: Terminal): BatchShown {
  const { print } = terminal;
  const isText = flags.outputFormat === 'text';
  const shown = progressFor(flags, terminal);
  switch (shown) {
    case 'none':
      return { reporters: [], print };
    case 'heartbeat':
      return { reporters: [batchProgress(log.info, { tellsEnds: false })], print };
    case 'steps':
      // Lines of text on stdout end up in the same log.
      return { reporters: [batchProgress(log.info, { tellsEnds: !isText })], print };
    case 'live': {
      const onScreen = process.stdout.isTTY === true;
      const table = new LiveTable({
        write: terminal.stderr,
        screen: () => ({ columns: process.stderr.columns || 80, rows: process.stderr.rows || 24 }),
        paint: painter(terminal.colors(flags.color, process.stderr)),
        tellsEnds: !(isText && onScreen),
      });
      return {
        reporters: [table],
        print: (text) => (onScreen ? table.aside(() => print(text)) : print(text)),
      };
    }
    default:
      return shown satisfies never;
  }
}
