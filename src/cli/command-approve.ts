import { Command } from 'commander';
import { APPROVE_FLAGS } from './flags/approve.js';
import { addFlags } from './flags/row.js';
import { applyVariables } from './flags/variables.js';
import type { Terminal } from './terminal.js';

const EXAMPLES = `
Examples:
  bosun approve run.jsonl                                        list the calls that wait
  bosun approve run.jsonl --json | jq '.[].execute_details.command'
  bosun approve run.jsonl --call call_3 --option proceed_once
  bosun approve run.jsonl --call call_4 --option modify --content-file better.ts
  bosun approve run.jsonl --all --option cancel --reason 'Not on a Friday.'
  bosun approve run.jsonl --answers answers.json --key reviewer.pem
  bosun resume run.jsonl                                         then continue

An answer is valid for exactly this call under this policy, for 24 hours. It is part of the
transcript: anyone who can write that file can answer, unless approvals.trusted_keys of the policy
says whose signatures count. A signature covers the whole transcript up to the answer.`;

export function approveCommand(terminal: Terminal): Command {
  const command = new Command('approve')
    .description('show the calls that wait for approval, and answer them')
    .argument('<transcript>', 'the transcript of the run')
    .addHelpText('after', EXAMPLES);
  addFlags(command, APPROVE_FLAGS, 'approve');
  return command.action(async (transcript: string) => {
    applyVariables(command, terminal.variables);
    const { performApprove } = await import('./perform-approve.js');
    await performApprove(transcript, command, terminal);
  });
}
