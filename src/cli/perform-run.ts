import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Log } from '../lib/log.js';
import type { ResultEvent } from '../protocol/event.js';
import { formatDuration } from '../lib/duration.js';
import { formatDollars } from '../lib/money.js';
import { count, oneLine, sentence } from '../lib/text.js';
import { isPresetName } from '../policy/preset-names.js';
import { remedyLine } from '../reporters/denials.js';
import { liveReporters, type ProgressStyle } from '../reporters/live-reporters.js';
import { run } from '../runs/run.js';
import type { Task } from '../protocol/task.js';
import type { RunRequest } from '../runs/run-request.js';
import { argumentsAreBroken } from './terminal.js';
import { notText, promptText, readAttachment, readInput, readInputFile } from '../runs/input.js';
import { buildTask } from '../agent/task.js';
import { configProblem, type Problem } from '../protocol/problem.js';
import type { FlagsOf, StderrFlags } from './flags/table.js';
import { isAttached, promptSource, type PromptSource } from './prompt-source.js';
import { allArrived, openRunReports } from './reports.js';
import { stopOnSignals } from './stop-on-signals.js';
import type { Terminal } from './terminal.js';

type RunFlags = FlagsOf<'run'>;

/** `bosun run`: from flags to the exit code. */
export async function performRun(
  words: readonly string[],
  command: Command,
  terminal: Terminal,
): Promise<number> {
  const flags = command.opts<RunFlags>();
  const source = promptSource(
    { ...flags, words },
    {
      stdinIsTerminal: terminal.stdinIsTerminal,
      isTyped: (flag) => command.getOptionValueSource(flag) === 'cli',
    },
  );
  const readTask = () => readTaskFrom(source, flags);
  const stdinUsed = source.type === 'stdin' || isAttached(flags.stdin);
  const log = terminal.log(flags);
  if (!stdinUsed && terminal.stdinIsPiped) log.info('stdin was not read; attach it with --stdin');
  return runTask(readTask, { flags, log, terminal, progress: progressFor(flags, terminal) });
}

/** Where a run is shown, and how. */
interface Display<Flags> {
  readonly flags: Flags;
  readonly log: Log;
  readonly terminal: Terminal;
  readonly progress: ProgressStyle;
  /** Whether to show the result as a table, even where output is only lines. */
  readonly table?: boolean;
}

/** Runs a task, shows the run, and returns the exit code. */
export function runTask(readTask: RunRequest['readTask'], display: Display<RunFlags>): Promise<number> {
  const { flags, terminal } = display;
  return showRun(display, (fromTerminal) =>
    run({ ...runRequest(flags, readTask, terminal), ...fromTerminal }),
  );
}

/** Flags about what is shown during a run. */
export type ShowFlags = StderrFlags & Pick<RunFlags, 'outputFormat' | 'progress' | 'reporter' | 'transcript'>;

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

function runRequest(flags: RunFlags, readTask: RunRequest['readTask'], terminal: Terminal): RunRequest {
  return {
    cwd: flags.cwd ?? terminal.cwd,
    ...(flags.mode !== undefined && { mode: flags.mode }),
    policies: policiesIn(flags, terminal),
    ...(flags.learn !== undefined && { learn: resolve(terminal.cwd, flags.learn) }),
    ...(flags.policyLock !== undefined && { policyLock: resolve(terminal.cwd, flags.policyLock) }),
    ...(flags.sandbox !== undefined && { sandbox: flags.sandbox }),
    ...(flags.model !== undefined && { model: flags.model }),
    ...(flags.toolProtocol !== undefined && { toolProtocol: flags.toolProtocol }),
    ...(flags.replay !== undefined && { replay: flags.replay }),
    ...successIn(flags),
    ...(flags.wait !== undefined && { waitMs: flags.wait }),
    ...(flags.transcript !== undefined && { transcript: flags.transcript }),
    ...(flags.outputSchema !== undefined && { outputSchema: flags.outputSchema }),
    limits: limitsIn(flags),
    include: includedIn(flags),
    readTask,
    variables: terminal.variables,
  };
}

export function policiesIn({ policy = [] }: Pick<RunFlags, 'policy'>, terminal: Terminal): string[] {
  return policy.map((name) => (isPresetName(name) ? name : resolve(terminal.cwd, name)));
}

/** Flags about what a run may use. */
export type LimitFlags = Pick<RunFlags, 'maxTurns' | 'maxToolCalls' | 'maxTokens' | 'maxCost' | 'timeout'>;

export function limitsIn(flags: LimitFlags): NonNullable<RunRequest['limits']> {
  return {
    ...(flags.maxTurns !== undefined && { turns: flags.maxTurns }),
    ...(flags.maxToolCalls !== undefined && { tool_calls: flags.maxToolCalls }),
    ...(flags.maxTokens !== undefined && { tokens: flags.maxTokens }),
    ...(flags.maxCost !== undefined && { cost_usd: flags.maxCost }),
    ...(flags.timeout !== undefined && { time_ms: flags.timeout }),
  };
}

/** Flags about when a run counts as done. */
export type SuccessFlags = Pick<RunFlags, 'dryRun' | 'verify' | 'requireChanges' | 'patchOut'>;

export function successIn(flags: SuccessFlags): SuccessFlags {
  const { dryRun = false, verify = [], requireChanges = false, patchOut } = flags;
  return { dryRun, verify, requireChanges, ...(patchOut !== undefined && { patchOut }) };
}

/** Flags about events that are recorded only on request. */
export type IncludeFlags = Pick<RunFlags, 'includeThoughts' | 'includeToolState' | 'includeToolOutput'>;

export function includedIn(flags: IncludeFlags): NonNullable<RunRequest['include']> {
  return {
    thoughts: flags.includeThoughts ?? false,
    toolState: flags.includeToolState ?? false,
    toolOutput: flags.includeToolOutput ?? false,
  };
}

async function readTaskFrom(source: PromptSource, flags: RunFlags): Promise<Task | undefined> {
  const prompt = await readPrompt(source, flags.stdinTimeout);
  if (prompt === undefined) {
    if (!isAttached(flags.stdin) && !flags.file && !flags.untrustedFile) return undefined;
    throw configProblem('prompt', '--stdin and --file attach something to a prompt, but there is no prompt', {
      hint: 'Give the prompt with -p or --prompt-file; the prompt of the recording is used as it is.',
    });
  }
  const untrusted = flags.untrusted ?? false;
  const attachments = [];
  if (isAttached(flags.stdin)) {
    const label = typeof flags.stdin === 'string' ? flags.stdin : 'stdin';
    const bytes = await readInput(process.stdin, 'stdin', flags.stdinTimeout);
    if (bytes.length === 0 && !flags.allowEmptyStdin) throw emptyStdin();
    attachments.push({ label, bytes, untrusted });
  }
  for (const file of flags.file ?? [])
    attachments.push(await readAttachment(file, flags.stdinTimeout, untrusted));
  for (const file of flags.untrustedFile ?? [])
    attachments.push(await readAttachment(file, flags.stdinTimeout, true));
  const task = buildTask(prompt, attachments);
  // The flag means all input, even if that is the prompt itself.
  return untrusted ? { ...task, untrusted } : task;
}

/** Usually because a command before the pipe has failed. */
function emptyStdin(): Problem {
  return configProblem('stdin', 'stdin was empty', {
    hint: 'Check why the command before the pipe printed nothing, or pass --allow-empty-stdin.',
  });
}

async function readPrompt(source: PromptSource, timeout: number): Promise<string | undefined> {
  switch (source.type) {
    case 'text':
      // Node has replaced what it could not decode in an argument.
      if (source.text.includes('\ufffd') && argumentsAreBroken()) throw notText(source.name);
      return promptText(Buffer.from(source.text), source.name);
    case 'file':
      return promptText(await readInputFile(source.path, timeout), source.path);
    case 'stdin':
      return promptText(await readInput(process.stdin, 'stdin', timeout), 'stdin');
    case 'recording':
      return undefined;
    default:
      return source satisfies never;
  }
}

/** The log level goes first: with `warn` there are no progress lines. */
export function progressFor(
  { quiet, logFormat, logLevel, progress = 'auto' }: StderrFlags & Pick<RunFlags, 'progress'>,
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
