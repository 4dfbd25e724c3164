import { formatDuration } from '../../lib/duration.js';
import { formatDollars } from '../../lib/money.js';
import { count } from '../../lib/text.js';
import type { BatchReporter } from '../reporter.js';
import { newsLine, taskLine } from './lines.js';
import { Tally } from './tally.js';

const EVERY_MS = 30_000;

export interface ProgressOptions {
  /** Whether ended tasks get a line here, because nothing else writes one. */
  readonly tellsEnds: boolean;
  readonly everyMs?: number;
}

/** Logs the progress of a batch every now and then, and what happens at its gate. */
export function batchProgress(
  say: (line: string) => void,
  { tellsEnds, everyMs = EVERY_MS }: ProgressOptions,
): BatchReporter {
  const tally = new Tally();
  let timer: NodeJS.Timeout | undefined;
  return {
    event(line) {
      tally.event(line);
      switch (line.type) {
        case 'batch_init':
          timer = setInterval(() => say(progressLine(tally)), everyMs).unref();
          return;
        case 'task_start':
          return;
        case 'task_end':
          if (tellsEnds) say(taskLine(line));
          return;
        case 'gate':
        case 'batch_notice': {
          const news = newsLine(line);
          if (news !== undefined) say(news);
          return;
        }
        case 'batch_result':
          clearInterval(timer);
          return;
        default:
          line satisfies never;
      }
    },
    task: (id, line) => tally.task(id, line),
  };
}

/** `3 tasks running, 12 of 40 done, 2 failed, $0.31, about 4m 10s left` */
export function progressLine(tally: Tally): string {
  const { running, done, toRun, failed, costUsd, leftMs } = tally;
  const spent = costUsd > 0 ? `, ${formatDollars(costUsd)}` : '';
  const left = leftMs === undefined ? '' : `, about ${formatDuration(leftMs)} left`;
  return `${count(running.length, 'task')} running, ${done} of ${toRun} done, ${failed} failed${spent}${left}`;
}
