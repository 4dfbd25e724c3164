import { Command, Option } from 'commander';
import { MODES } from '../protocol/decision.js';
import {
  addStderrOptions,
  applyVariables,
  collect,
  dollars,
  duration,
  fileName,
  progressOption,
  wholeNumber,
  WAIT_HELP,
} from './options.js';
import { REPORTER_HELP } from './reports.js';
import type { Terminal } from './terminal.js';

const EXAMPLES = `
Examples:
  bosun resume run.jsonl                   after a signal, a crash, a power cut, or bosun approve
  bosun resume run.jsonl -C ../checkout    on another machine, in another place
  bosun resume run.jsonl --mode plan --timeout 5m

The transcript alone is enough: it holds the task, the conversation and the policy. Calls that were
finished are not repeated; a call that changes something and was interrupted is not either, and the
model is told so. What was used of limits stays used. Flags can only narrow what the run may do.

Whoever can write a transcript can widen the policy in it. Where others can, give all policies
of the run by --policy; where the policy trusts keys, that is needed unless one of them has
signed an answer.`;

export function resumeCommand(terminal: Terminal): Command {
  const command = new Command('resume')
    .description('go on with a run that was interrupted or waits for approval')
    .argument('<transcript>', 'the transcript of the run; it is written on')
    .option('-C, --cwd <dir>', 'the workspace (default: where it was)')
    .option('-p, --prompt <text>', 'go on only if this is the task of the run')
    .option('--prompt-file <file>', 'the same, from a file')
    .option('--policy <name>', 'a further preset or policy file, which can only narrow (repeatable)', collect)
    .addOption(new Option('--mode <mode>', 'a narrower mode').choices(MODES))
    .addOption(
      new Option('-o, --output-format <format>', 'what goes to stdout')
        .choices(['text', 'json', 'stream-json'])
        .default('text'),
    )
    .option('--reporter <name=file>', REPORTER_HELP, collect)
    .option('--replay <file>', "where the recording is, if the model's turns come from one")
    .option('--verify <command>', 'a further command line that must succeed (repeatable)', collect)
    .option('--require-changes', 'something in the workspace must have changed')
    .option(
      '--patch-out <file>',
      'where the patch of the whole run goes (default: where it was to go)',
      fileName,
    )
    .option('--dry-run', 'from now on only read; a dry run stays one')
    .option('--max-turns <n>', 'a lower limit of model responses, of the whole run', wholeNumber)
    .option('--max-tool-calls <n>', 'a lower limit of tool calls', wholeNumber)
    .option('--max-tokens <n>', 'a lower limit of tokens', wholeNumber)
    .option('--max-cost <usd>', 'a lower limit of dollars', dollars)
    .option('--timeout <duration>', 'a shorter time for the whole run', duration)
    .option('--wait <duration>', WAIT_HELP, duration)
    .option('--include-thoughts', "ask for the model's thoughts and record them as events")
    .option('--include-tool-state', 'record each change of state of a call')
    .option('--include-tool-output', 'record what calls print while they run')
    .addHelpText('after', EXAMPLES);
  command.addOption(progressOption());
  addStderrOptions(command);
  return command.action(async (transcript: string) => {
    applyVariables(command, terminal.variables);
    const { performResume } = await import('./resume-actions.js');
    terminal.exitCode = await performResume(transcript, command, terminal);
  });
}
