import { Command } from 'commander';
import { REPORT_FLAGS } from './flags/report.js';
import { addFlags } from './flags/row.js';
import { applyVariables } from './flags/variables.js';
import type { Terminal } from './terminal.js';

const EXAMPLES = `
Examples:
  bosun report .bosun/runs/*/transcript.jsonl
  bosun report run.jsonl -o json | jq .stats
  bosun report run.jsonl --junit results.xml
  bosun report run.jsonl --markdown --max-bytes 65536 | gh pr comment 7 --body-file -
  bosun report run.jsonl --html run.html

With a reporter, only its report is written, just as the run itself would have written it; without a
file it goes to stdout. -o prints as well.`;

export function reportCommand(terminal: Terminal): Command {
  const command = new Command('report')
    .description('show what happened in a run, from its transcript')
    .argument('<transcript...>', 'transcripts to show')
    .addHelpText('after', EXAMPLES);
  addFlags(command, REPORT_FLAGS, 'report');
  return command.action(async (paths: string[]) => {
    applyVariables(command, terminal.variables);
    const { performReport } = await import('./perform-report.js');
    await performReport(paths, command, terminal);
  });
}
