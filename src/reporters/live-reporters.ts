import type { Reporter } from '../protocol/event.js';
import type { ProgressChoice } from '../protocol/progress.js';
import { heartbeatReporter } from './heartbeat.js';
import { StepsReporter } from './steps.js';
import { painter } from '../lib/paint.js';
import { ProgressReporter } from './progress.js';
import { tableReporter } from './table.js';
import { stdoutReporter, type OutputFormat } from './stdout.js';

/** The progress shown, once the output is known. `live` redraws a status line. */
export type ProgressStyle = Exclude<ProgressChoice, 'auto'> | 'live';

export interface LiveReporterOptions {
  readonly format: OutputFormat;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly progress: ProgressStyle;
  /** The log is for programs. */
  readonly records: boolean;
  /** Whether the result is shown as a table even if it usually is not. */
  readonly table: boolean;
  readonly color: boolean;
  readonly guardCommands: boolean;
  readonly say: (severity: 'info' | 'warn', line: string, fields?: object) => void;
  /** Reports written at the end. */
  readonly reports: readonly Reporter[];
  /** Called for every event, for debugging. */
  readonly debug: (line: string, fields: object) => void;
}

/** All reporters that follow a run. */
export function liveReporters(options: LiveReporterOptions): Reporter[] {
  const { format, stdout, guardCommands, debug, reports } = options;
  const reporters: Reporter[] = [{ event: ({ type, seq }) => debug(`event ${seq}: ${type}`, { type, seq }) }];
  reporters.push(...progressReporters(options), ...reports);
  // Last: on a terminal the answer comes below everything else, not into the status line.
  reporters.push(stdoutReporter(format, { write: stdout, guardCommands }));
  return reporters;
}

function progressReporters({
  progress,
  records,
  table,
  color,
  stderr,
  say,
}: LiveReporterOptions): Reporter[] {
  const paint = painter(color && !records);
  const last = table ? [tableReporter(stderr, paint)] : [];
  switch (progress) {
    case 'none':
      return [];
    case 'live':
      return [new ProgressReporter({ write: stderr, paint, statusLine: true })];
    case 'heartbeat':
      return [heartbeatReporter((line) => say('info', line)), ...last];
    case 'steps':
      return [new StepsReporter({ say, paint, records }), ...last];
    default:
      return progress satisfies never;
  }
}
