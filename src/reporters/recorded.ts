import { ProgressReporter } from './progress.js';
import { painter } from '../lib/paint.js';
import { stdoutReporter, type OutputFormat } from './stdout.js';
import type { Reporter } from '../protocol/event.js';
import { configProblem, Problem } from '../protocol/problem.js';
import type { Transcript } from '../protocol/transcript.js';
import type { Report } from './open-reports.js';

export const REPORT_FORMATS = ['summary', 'text', 'json', 'stream-json'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

export interface ReportOptions {
  /** What is printed; nothing if only reports are wanted. */
  readonly format?: ReportFormat;
  /** Reports that get the events as if they had followed the run. */
  readonly reports?: readonly Report[];
  readonly color: boolean;
  readonly guardCommands: boolean;
  readonly write: (text: string) => void;
}

/** Shows a transcript as if its run had just happened. Without an end, it is shown as far as it goes. */
export function reportRecorded(transcript: Transcript, options: ReportOptions): void {
  const { path, lines, torn, brokenAt, result } = transcript;
  const { reports = [] } = options;
  const reporter = reporterFor(options);
  for (const [i, line] of lines.entries()) {
    try {
      for (const report of reports) report.past(line);
      // A resumed run has several results; the last one counts.
      if (line.type !== 'result' || line === result || options.format === 'stream-json')
        reporter?.event(line);
    } catch (error) {
      throw configProblem('transcript', `${path}:${i + 1}: not an event that this version knows`, {
        cause: error,
      });
    }
  }
  for (const report of reports) report.publish();
  if (brokenAt !== undefined) {
    throw new Problem(
      'unverified',
      'chain',
      `${path} was changed: its hash chain breaks at line ${brokenAt}`,
    );
  }
  if (result) return;
  const where = torn ? `line ${lines.length + 1} was not finished` : `it ends after line ${lines.length}`;
  throw configProblem('transcript', `${path} has no result: ${where}`, {
    hint: 'The run was killed, or is still running.',
  });
}

function reporterFor({ format, color, guardCommands, write }: ReportOptions): Reporter | undefined {
  if (format === undefined) return undefined;
  if (format === 'summary') return new ProgressReporter({ write, paint: painter(color), statusLine: false });
  return stdoutReporter(format satisfies OutputFormat, { write, guardCommands });
}
