import { Command, Option } from 'commander';
import { APPROVAL_OPTIONS } from '../protocol/approval-options.js';
import { applyVariables, duration } from './options.js';
import type { Terminal } from './terminal.js';

const EXAMPLES = `
Examples:
  bosun approve run.jsonl                                        what waits, and what it would do
  bosun approve run.jsonl --json | jq '.[].execute_details.command'
  bosun approve run.jsonl --call call_3 --option proceed_once
  bosun approve run.jsonl --call call_4 --option modify --content-file better.ts
  bosun approve run.jsonl --all --option cancel --reason 'Not on a Friday.'
  bosun approve run.jsonl --answers answers.json --key reviewer.pem
  bosun resume run.jsonl                                         then go on

An answer holds for this very call, under this very policy, and for 24 hours. It stands in the
transcript: whoever can write that can answer, unless approvals.trusted_keys of the policy says
whose signatures count. A signature is for the whole transcript up to the answer.`;

const DAY_MS = 24 * 3_600_000;

export function approveCommand(terminal: Terminal): Command {
  const command = new Command('approve')
    .description('show the calls that wait for an approval, and answer them')
    .argument('<transcript>', 'the transcript of the run')
    .option('--call <id>', 'the call to answer (may be left out if only one waits)')
    .addOption(new Option('--all', 'answer every call that waits').conflicts(['call', 'answers']))
    .addOption(new Option('--option <option>', 'the answer').choices(APPROVAL_OPTIONS))
    .addOption(new Option('--content-file <file>', 'for modify: the content to use instead').conflicts('all'))
    .option('--reason <text>', 'what the model is told about the answer')
    .addOption(
      new Option('--answers <file>', 'a JSON array of answers (- for stdin)').conflicts([
        'call',
        'option',
        'contentFile',
        'reason',
      ]),
    )
    .addOption(
      new Option('--expires <duration>', 'how long the answers hold')
        .argParser(duration)
        .default(DAY_MS, '24h'),
    )
    .option('--key <file>', 'sign with this private ed25519 key (PEM)')
    .option('--json', 'print JSON: what waits, or what was answered')
    .addHelpText('after', EXAMPLES);
  return command.action(async (transcript: string) => {
    applyVariables(command, terminal.variables);
    const { performApprove } = await import('./resume-actions.js');
    await performApprove(transcript, command, terminal);
  });
}
