import { Command } from 'commander';
import { COMPARE_FLAGS, type CompareFlags } from './flags/compare.js';
import { addFlags } from './flags/row.js';
import { FLAGS } from './flags/table.js';
import { applyVariables } from './flags/variables.js';
import type { Terminal } from './terminal.js';

const EXAMPLES = `
Examples:
  bosun compare .bosun/batches/monday .bosun/batches/tuesday
  bosun compare before.jsonl after.jsonl --json
  bosun compare main/runs branch/runs --gate gate.yaml --markdown compare.md

A and B are each a transcript, the folder of a batch, or a folder of transcripts. Tasks of batches are
matched by their ids, other runs by their prompts; several runs of one prompt are repeats of one task.

A gate file has one limit a line: how much worse B may be.
  pass_rate: -0       # may not fall; -2 is two percentage points
  cost_usd: +10%      # per task; also tokens, turns, duration_ms, tool_calls, denials
  lost: +3            # tasks that passed in A and fail in B
  missing: +0         # tasks of A that B has not done (always 0 unless the file says more)

Exit codes: 0; 5 if a limit is broken, or what it limits is not known; 2 if there is nothing to compare, or a
transcript was changed.`;

export function compareCommand(terminal: Terminal): Command {
  const command = new Command('compare')
    .description('compare two runs, batches or folders of runs: what passes, costs and changes')
    .argument('<A>', 'before: a transcript, the folder of a batch, or a folder of transcripts')
    .argument('<B>', 'after')
    .addHelpText('after', EXAMPLES);
  addFlags(command, { ...FLAGS, ...COMPARE_FLAGS }, 'compare');
  return command.action(async (a: string, b: string) => {
    applyVariables(command, terminal.variables);
    const { performCompare } = await import('./perform-compare.js');
    await performCompare(a, b, command.opts<CompareFlags>(), terminal);
  });
}
