import type { Reporter } from '../protocol/event.js';
import { heartbeatReporter } from '../reporters/heartbeat.js';
import { painter } from '../lib/paint.js';
import { ProgressReporter } from '../reporters/progress.js';
import { stdoutReporter, type OutputFormat } from '../reporters/stdout.js';

export { remedyLine } from '../reporters/refusals.js';
export type { OutputFormat } from '../reporters/stdout.js';

export interface ReportingOptions {
  readonly format: OutputFormat;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** `live` redraws a status line, `lines` only adds to the log, `heartbeat` says now and then that it is alive. */
  readonly progress: 'live' | 'lines' | 'heartbeat' | 'none';
  readonly color: boolean;
  readonly guardCommands: boolean;
  readonly say: (line: string) => void;
  /** Reports that are written at the end. */
  readonly reports: readonly Reporter[];
  /** Hears of every event, for whoever looks for a fault. */
  readonly debug: (line: string, fields: object) => void;
}

/** Everyone who reads along while a run goes on. */
export function reportersFor(options: ReportingOptions): Reporter[] {
  const { format, stdout, stderr, progress, color, guardCommands, say, debug, reports } = options;
  const reporters: Reporter[] = [{ event: ({ type, seq }) => debug(`event ${seq}: ${type}`, { type, seq }) }];
  if (progress === 'heartbeat') reporters.push(heartbeatReporter(say));
  if (progress === 'live' || progress === 'lines') {
    reporters.push(
      new ProgressReporter({ write: stderr, paint: painter(color), statusLine: progress === 'live' }),
    );
  }
  reporters.push(...reports);
  // Last: on a terminal the answer comes below everything else, and not into the status line.
  reporters.push(stdoutReporter(format, { write: stdout, guardCommands }));
  return reporters;
}
