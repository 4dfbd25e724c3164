import { Command, Option } from 'commander';
import { applyVariables } from './options.js';
import { COLOR_CHOICES, type StderrFlags, type Terminal } from './terminal.js';
import type { ReportFormat } from '../runs/report.js';

const EXAMPLES = `
Examples:
  bosun report .bosun/runs/*/transcript.jsonl
  bosun report run.jsonl -o json | jq .stats`;

interface ReportFlags {
  readonly outputFormat: ReportFormat;
  readonly color: StderrFlags['color'];
}

export function reportCommand(terminal: Terminal): Command {
  const command = new Command('report')
    .description('show what happened in a run, from its transcript')
    .argument('<transcript...>', 'transcripts to show')
    .addOption(
      new Option('-o, --output-format <format>', 'a summary for people, or what bosun run prints')
        .choices(['summary', 'text', 'json', 'stream-json'])
        .default('summary'),
    )
    .addOption(new Option('--color <when>', 'colours').choices(COLOR_CHOICES).default('auto'))
    .addHelpText('after', EXAMPLES);
  return command.action(async (paths: string[]) => {
    applyVariables(command, terminal.variables);
    const { outputFormat, color } = command.opts<ReportFlags>();
    const { reportTranscript } = await import('./actions.js');
    for (const path of paths) {
      reportTranscript(path, {
        format: outputFormat,
        color: terminal.colors(color, process.stdout),
        guardCommands: terminal.runnerReadsOutput,
        write: terminal.stdout,
      });
    }
  });
}
