import { Command, Option } from 'commander';
import { applyVariables, collect, roomInBytes } from './options.js';
import { COLOR_CHOICES, type Terminal } from './terminal.js';

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
    .addOption(
      new Option('-o, --output-format <format>', 'a summary for people, or what bosun run prints')
        .choices(['summary', 'text', 'json', 'stream-json'])
        .default('summary'),
    )
    .option(
      '--reporter <name=file>',
      'write this report: github, junit=FILE, markdown=FILE, html=FILE (repeatable)',
      collect,
    )
    .option('--junit [file]', 'the same as --reporter junit=FILE')
    .option('--markdown [file]', 'the same as --reporter markdown=FILE')
    .option('--max-bytes <n>', 'cut the Markdown report to this size: 65536 for a comment', roomInBytes)
    .option('--html [file]', 'the same as --reporter html=FILE')
    .addOption(new Option('--color <when>', 'colours').choices(COLOR_CHOICES).default('auto'))
    .addHelpText('after', EXAMPLES);
  return command.action(async (paths: string[]) => {
    applyVariables(command, terminal.variables);
    const { performReport } = await import('./actions.js');
    await performReport(paths, command, terminal);
  });
}
