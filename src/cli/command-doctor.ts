import { Command } from 'commander';
import { DOCTOR_FLAGS, type DoctorFlags } from './flags/doctor.js';
import { addFlags } from './flags/row.js';
import { FLAGS } from './flags/table.js';
import { applyVariables } from './flags/variables.js';
import type { Terminal } from './terminal.js';

const EXAMPLES = `
Examples:
  bosun doctor
  bosun doctor --policy codemod --online
  bosun doctor --policy .bosun/policy.yaml --json | jq -r '.checks[] | select(.status != "ok") | .hint'

Each line is ok, warn (a run works, but not as well as it could) or fail, with what to do about it. It
looks at Node, git, bash and ripgrep, starts a command in the sandbox, looks for the model's key, loads
the policy, starts its MCP servers, and writes to the disk. Nothing is sent to the model without --online.

Exit codes: 0 nothing fails; otherwise that of a run with these settings, such as 2 for the policy or
the disk, 9 for the key, 11 for the endpoint, 12 for the sandbox or a required server. If several
things fail, the lowest.`;

export function doctorCommand(terminal: Terminal): Command {
  const command = new Command('doctor')
    .description('check that everything a run needs is in place')
    .addHelpText('after', EXAMPLES);
  addFlags(command, { ...FLAGS, ...DOCTOR_FLAGS }, 'doctor');
  return command.action(async () => {
    applyVariables(command, terminal.variables);
    const { performDoctor } = await import('./perform-doctor.js');
    await performDoctor(command.opts<DoctorFlags>(), terminal);
  });
}
