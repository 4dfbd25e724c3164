import { Command } from 'commander';
import { APPROVE_FLAGS } from './flags/approve.js';
import { addFlags } from './flags/row.js';
import { applyVariables } from './flags/variables.js';
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
transcript: anyone who can write it can answer, unless approvals.trusted_keys of the policy says
whose signatures count. A signature is for the whole transcript up to the answer.`;

export function approveCommand(terminal: Terminal): Command {
  const command = new Command('approve')
    .description('show the calls that wait for an approval, and answer them')
    .argument('<transcript>', 'the transcript of the run')
    .addHelpText('after', EXAMPLES);
  addFlags(command, APPROVE_FLAGS, 'approve');
  return command.action(async (transcript: string) => {
    applyVariables(command, terminal.variables);
    const { performApprove } = await import('./perform-approve.js');
    await performApprove(transcript, command, terminal);
  });
}
