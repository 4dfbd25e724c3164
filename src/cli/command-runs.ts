import { Command } from 'commander';
import { addFlags } from './flags/row.js';
import { RUNS_FLAGS, type RunsFlags } from './flags/runs.js';
import { FLAGS } from './flags/table.js';
import { applyVariables } from './flags/variables.js';
import type { Terminal } from './terminal.js';

const EXAMPLES = `
Examples:
  bosun runs list
  bosun runs list --json | jq -r '.[] | select(.exit_code != 0) | .transcript'
  bosun runs prune --keep 20
  bosun runs prune --keep 20 --older-than 30d --dry-run

Runs that are still running or wait for an approval are never removed. With runs: {keep: 20}
in a policy, each run removes old ones.`;

export function runsCommand(terminal: Terminal): Command {
  const command = (name: 'list' | 'prune', description: string) => {
    const one = new Command(name).description(description);
    addFlags(one, { ...FLAGS, ...RUNS_FLAGS }, `runs ${name}`);
    return one.action(async () => {
      applyVariables(one, terminal.variables);
      const perform = await import('./perform-runs.js');
      const flags = one.opts<RunsFlags>();
      await (name === 'list' ? perform.performList(flags, terminal) : perform.performPrune(flags, terminal));
    });
  };
  return new Command('runs')
    .description('list the runs that .bosun/runs keeps, and remove old ones')
    .addHelpText('after', EXAMPLES)
    .addCommand(command('list', 'list the runs of a workspace, the newest first'))
    .addCommand(command('prune', 'remove old runs'));
}
