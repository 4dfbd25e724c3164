import { Command } from 'commander';
import { addFlags } from './flags/row.js';
import { FLAGS } from './flags/table.js';
import { applyVariables } from './flags/variables.js';
import type { Terminal } from './terminal.js';

const EXAMPLES = `
Examples:
  bosun resume run.jsonl                   after a signal, a crash, a power cut, or bosun approve
  bosun resume run.jsonl -C ../checkout    on another machine, in another place
  bosun resume run.jsonl --mode plan --timeout 5m

The transcript alone is enough: it holds the task, the conversation and the policy. Calls that
finished are not repeated. Neither is an interrupted call that changes something, and the model is
told so. What the run has used counts towards its limits. Flags can only narrow what it may do.

Anyone who can write a transcript can widen the policy in it. If others can, give all policies
of the run with --policy. If the policy trusts keys, this is required, unless one of these keys
has signed an answer.`;

export function resumeCommand(terminal: Terminal): Command {
  const command = new Command('resume')
    .description('continue a run that was interrupted or waits for approval')
    .argument('<transcript>', 'the transcript of the run; it is continued')
    .addHelpText('after', EXAMPLES);
  addFlags(command, FLAGS, 'resume');
  return command.action(async (transcript: string) => {
    applyVariables(command, terminal.variables);
    const { performResume } = await import('./perform-resume.js');
    terminal.exitCode = await performResume(transcript, command, terminal);
  });
}
