import type { Log } from '../lib/log.js';
import type { ResultEvent } from '../protocol/event.js';
import { formatDuration } from '../lib/duration.js';
import { formatDollars } from '../lib/money.js';
import { count, oneLine, sentence } from '../lib/text.js';
import { remedyLine } from '../reporters/denials.js';
import { liveReporters, type ProgressStyle } from '../reporters/live-reporters.js';
import type { RunRequest } from '../runs/run-request.js';
import type { FlagsOf, StderrFlags } from './flags/table.js';
import { allArrived, openRunReports } from './reports.js';
import { stopOnSignals } from './stop-on-signals.js';
import type { Terminal } from './terminal.js';

/** Where a run is shown, and how. */
export interface Display<Flags> {
  readonly flags: Flags;
  readonly log: Log;
  readonly terminal: Terminal;
  readonly progress: ProgressStyle;
  /** Whether to show the result as a table, even where output is only lines. */
  readonly table?: boolean;
}

/** Flags about what is shown during a run. */
export type ShowFlags = StderrFlags &
  Pick<FlagsOf<'run'>, 'outputFormat' | 'progress' | 'reporter' | 'transcript'>;

/** What a run gets from the terminal that shows it and can stop it. */
type FromTerminal = Required<Pick<RunRequest, 'reporters' | 'protect' | 'signal' | 'underWay' | 'log'>>;

/** Starts a run, shows it and how it ended, and returns the exit code. */
export async function showRun(
  { flags, log, terminal, progress, table = false }: Display<ShowFlags>,
  start: (fromTerminal: FromTerminal) => Promise<ResultEvent>,
): Promise<number> {
  const reports = await openRunReports(flags, terminal, log.warn);
  const reporters = liveReporters({
    format: flags.outputFormat,
    stdout: terminal.print,
    stderr: terminal.stderr,
    progress,
    records: flags.logFormat === 'json',
    table,
    color: terminal.colors(flags.color, process.stderr),
    guardCommands: terminal.runnerReadsOutput,
    reports,
    say: (severity, line, fields) => log[severity](line, fields),
    debug: log.debug,
  });
  const result = await start({
    reporters,
    protect: reports.flatMap(({ file }) => file ?? []),
    ...stopOnSignals(),
    // On a terminal, the status line matters more than messages of servers.
    log: progress === 'live' ? log.debug : log.info,
  });
  for (const warning of result.warnings) log.warn(warning);
  if (result.learnt) log.info(`this run needs the rules in ${result.learnt.file}; review them before use`);
  const isShown = progress === 'live' || (table && progress !== 'none');
  if (result.status !== 'completed') log.error(failureLine(result));
  else if (!isShown) log.info(successLine(result));
  await allArrived(reports);
  await log.flush();
  return result.exit_code;
}

/** The log level goes first: with `warn` there are no progress lines. */
export function progressFor(
  { quiet, logFormat, logLevel, progress = 'auto' }: StderrFlags & Pick<FlagsOf<'run'>, 'progress'>,
  { canRedraw }: Terminal,
): ProgressStyle {
  if (quiet || logLevel === 'silent' || logLevel === 'error' || logLevel === 'warn') return 'none';
  if (progress !== 'auto') return progress;
  return canRedraw && logFormat === 'pretty' ? 'live' : 'steps';
}

function failureLine({ status, reason, error, transcript, denials }: ResultEvent): string {
  const what = reason && reason !== status ? `${status} (${reason})` : status;
  const help = [status === 'denied' && remedyLine(denials), error?.hint].filter(Boolean).join(' ');
  const hint = help ? ` ${help}` : '';
  const where = transcript ? ` [transcript: ${transcript}]` : '';
  return oneLine(`${what}: ${sentence(error?.message ?? '')}${hint}${where}`, 2000);
}

function successLine({ stats, transcript, dry_run }: ResultEvent): string {
  const { turns, tool_calls, total_tokens, cost_usd } = stats;
  const tokens = total_tokens === undefined ? '' : `, ${count(total_tokens, 'token')}`;
  const cost = cost_usd === undefined ? '' : `, ${formatDollars(cost_usd)}`;
  const work = `${count(turns, 'turn')}, ${count(tool_calls, 'call')}${tokens}${cost}`;
  const how = `completed${dry_run ? ' (dry run)' : ''}`;
  return oneLine(`${how}: ${work}, ${formatDuration(stats.duration_ms)} [transcript: ${transcript}]`, 2000);
}
