import type { Command } from 'commander';
import { neutralizeCommands } from '../lib/text.js';
import { configProblem } from '../protocol/problem.js';
import { canFollow, isReporter } from '../reporters/registry.js';
import { reportTranscript } from '../runs/show-transcript.js';
import type { Report } from '../reporters/open-reports.js';
import type { ReportFlags } from './flags/report.js';
import { allArrived, openTargets, targetsIn } from './reports.js';
import type { Terminal } from './terminal.js';

/** `bosun report`: shows each transcript in any of the formats. */
export async function performReport(
  paths: readonly string[],
  command: Command,
  terminal: Terminal,
): Promise<void> {
  const flags = command.opts<ReportFlags>();
  const targets = targetsIn(flags);
  // Several XML or HTML documents in a row are not a document.
  const whole = targets.find((target) => target.includes('=') || (isReporter(target) && !canFollow(target)));
  if (paths.length > 1 && whole !== undefined)
    throw configProblem('reporter', `${whole} is one document, but there are ${paths.length} transcripts`, {
      hint: 'Report on one at a time.',
    });
  // Without targets, or if asked for, the text is printed too.
  const isPrinted = targets.length === 0 || command.getOptionValueSource('outputFormat') !== 'default';
  const format = isPrinted ? flags.outputFormat : undefined;
  for (const path of paths) {
    const reports = await reportsOn(path, targets, { ...flags, format }, terminal);
    reportTranscript(path, {
      ...(format && { format }),
      reports,
      color: terminal.colors(flags.color, process.stdout),
      guardCommands: terminal.runnerReadsOutput,
      write: terminal.stdout,
    });
    await allArrived(reports);
  }
}

async function reportsOn(
  path: string,
  texts: readonly string[],
  { format, maxBytes }: Pick<ReportFlags, 'maxBytes'> & { readonly format: string | undefined },
  terminal: Terminal,
): Promise<Report[]> {
  if (texts.length === 0) return [];
  return openTargets(texts, terminal, {
    needsFile: false,
    outputFormat: format ?? 'text',
    taken: path,
    fresh: false,
    ...(maxBytes !== undefined && { maxBytes }),
    print: (text) => terminal.stdout(terminal.runnerReadsOutput ? neutralizeCommands(text) : text),
    warn: (message) => {
      throw configProblem('reporter', message);
    },
  });
}
