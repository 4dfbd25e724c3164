import { Command } from 'commander';
import { BATCH_FLAGS } from './flags/batch.js';
import { addFlags } from './flags/row.js';
import { applyVariables, refuseRepeats } from './flags/variables.js';
import type { Terminal } from './terminal.js';

const EXAMPLES = `
Examples:
  bosun batch run find-user.yaml
  bosun batch run -p 'Explain {{file}}' --each 'src/**/*.ts' --policy read-only
  gh issue list --json number,title,body --jq '.[]' \\
    | bosun batch run -p 'Triage issue {{number}}' --tasks - --untrusted-value title --untrusted-value body
  bosun batch run find-user.yaml --retry-failed --max-cost 5
  bosun batch run find-user.yaml --shard 2/8 --out shard-2`;

/** Many tasks with one budget, one gate and one report. */
export function batchCommand(terminal: Terminal): Command {
  return new Command('batch')
    .description('run many tasks with one budget, one gate in front of the model, and one report')
    .addHelpText('after', EXAMPLES)
    .addCommand(runBatchCommand(terminal))
    .addCommand(schemaCommand(terminal));
}

function runBatchCommand(terminal: Terminal): Command {
  const command = new Command('run')
    .description('run the tasks of a batch; the same command again goes on with what is not done')
    .argument('[file]', 'the batch file (YAML)')
    .addHelpText('after', EXAMPLES);
  addFlags(command, BATCH_FLAGS, 'batch run');
  refuseRepeats(command, ['prompt', 'prompt-file']);
  return command.action(async (file: string | undefined) => {
    applyVariables(command, terminal.variables);
    const { performBatchRun } = await import('./batch-actions.js');
    terminal.exitCode = await performBatchRun(file, command, terminal);
  });
}

function schemaCommand(terminal: Terminal): Command {
  return new Command('schema').description('print the JSON Schema of batch files').action(async () => {
    const { BATCH_SCHEMA, toJsonText } = await import('./batch-actions.js');
    terminal.stdout(`${toJsonText(BATCH_SCHEMA)}\n`);
  });
}
