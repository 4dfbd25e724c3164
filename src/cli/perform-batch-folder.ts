import { resolve } from 'node:path';
import { FolderPaths, writeResults } from '../batch/folder.js';
import { mergeBatches } from '../batch/merge.js';
import type { BatchReporter } from '../batch/reporter.js';
import { stateLines } from '../batch/reporters/lines.js';
import { openBatchReports, type BatchReport } from '../batch/reporters/reports.js';
import { hasFailed, classOf } from '../batch/reporters/story.js';
import { storyOf } from '../batch/status.js';
import { toJsonLine } from '../lib/jsonl.js';
import { neutralizeCommands, revealedLine } from '../lib/text.js';
import { configProblem } from '../protocol/problem.js';
import type { BatchRunFlags, FolderReportFlags, MergeFlags, StatusFlags } from './flags/batch.js';
import type { Terminal } from './terminal.js';

/** The reports of a batch that is about to begin. */
export async function batchReporters(
  { reporter = [], outputFormat }: Pick<BatchRunFlags, 'reporter' | 'outputFormat'>,
  terminal: Terminal,
  warn: (message: string) => void,
): Promise<BatchReporter[]> {
  const reports = await reportsFor(reporter, outputFormat, terminal, warn);
  return reports.map((report) => ({ event: () => {}, end: report }));
}

function reportsFor(
  targets: readonly string[],
  format: string,
  terminal: Terminal,
  warn: (message: string) => void,
  print?: (text: string) => void,
): Promise<BatchReport[]> {
  return openBatchReports({
    targets,
    command: targets.includes('github') ? terminal.command(format) : () => {},
    stepSummary: terminal.variables['GITHUB_STEP_SUMMARY'],
    warn,
    ...(print && { print }),
  });
}

/** `bosun batch status`: the state of the batch in a folder. */
export function performBatchStatus(dir: string, { json }: StatusFlags, terminal: Terminal): void {
  const { record, results, state } = storyOf(resolve(terminal.cwd, dir));
  if (json) {
    terminal.stdout(`${toJsonLine({ name: record.name, ...state })}\n`);
    return;
  }
  const say = lineWriter(terminal);
  for (const result of results)
    if (result.status !== 'completed')
      say(
        `${hasFailed(result) ? 'failed ' : 'pending'}  ${revealedLine(result.id, 100)}  ${classOf(result)}`,
      );
  stateLines(state).forEach(say);
}

function lineWriter(terminal: Terminal): (line: string) => void {
  return (line) => terminal.stdout(`${terminal.runnerReadsOutput ? neutralizeCommands(line) : line}\n`);
}

/** `bosun batch report`: rewrites what is derived from the journal. */
export async function performBatchReport(
  dir: string,
  flags: FolderReportFlags,
  terminal: Terminal,
): Promise<void> {
  const story = storyOf(resolve(terminal.cwd, dir));
  const { reporter = [] } = flags;
  const fail = (message: string) => {
    throw configProblem('reporter', message);
  };
  const reports = await reportsFor(reporter, 'text', terminal, fail, (text) => terminal.show(text));
  writeResults(new FolderPaths(story.folder), story.results);
  for (const report of reports) report(story);
  if (reports.length === 0) stateLines(story.state).forEach(lineWriter(terminal));
}

/** `bosun batch merge`: from several folders to one folder and one exit code. */
export async function performBatchMerge(
  dirs: readonly string[],
  { out, outputFormat, reporter = [] }: MergeFlags,
  terminal: Terminal,
): Promise<number> {
  const warn = (message: string) => terminal.stderr(`bosun: warning: ${message}\n`);
  const reports = await reportsFor(reporter, outputFormat, terminal, warn);
  if (out === undefined)
    throw configProblem('out', 'there is no folder to merge into', { hint: 'Give one with --out DIR.' });
  const folder = resolve(terminal.cwd, out);
  const { result, overlapping } = await mergeBatches(
    dirs.map((dir) => resolve(terminal.cwd, dir)),
    folder,
  );
  overlapping.forEach(warn);
  const story = storyOf(folder);
  for (const report of reports) report(story);
  if (outputFormat === 'json') terminal.stdout(`${toJsonLine(result)}\n`);
  else stateLines(story.state).forEach(lineWriter(terminal));
  return result.exit_code;
}
