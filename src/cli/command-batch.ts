import { Command } from 'commander';
export { publishCommand } from './command-publish.js';
export { workerCommand } from './command-worker.js';
import { publishBatchCommand } from './command-publish.js';
import { BATCH_FLAGS, FOLDER_FLAGS } from './flags/batch.js';
import { addFlags } from './flags/row.js';
import { toJsonText } from '../lib/jsonl.js';
import { applyVariables, refuseRepeats } from './flags/variables.js';
import type { Terminal } from './terminal.js';

const EXAMPLES = `
Examples:
  bosun batch run find-user.yaml
  bosun batch run -p 'Explain {{file}}' --each 'src/**/*.ts' --policy read-only
  gh issue list --json number,title,body --jq '.[]' \\
    | bosun batch run -p 'Triage issue {{number}}' --tasks - --untrusted-value title --untrusted-value body
  bosun batch run find-user.yaml --retry-failed --max-cost 5
  bosun batch run find-user.yaml --shard 2/8 --out shard-2
  bosun batch run find-user.yaml --queue redis://queue.internal:6379      and elsewhere: bosun worker`;

/** Many tasks with one budget, one gate and one report. */
export function batchCommand(terminal: Terminal): Command {
  return new Command('batch')
    .description('run many tasks with one budget, one gate in front of the model, and one report')
    .addHelpText('after', EXAMPLES)
    .addCommand(runBatchCommand(terminal))
    .addCommand(statusCommand(terminal))
    .addCommand(reportCommand(terminal))
    .addCommand(mergeCommand(terminal))
    .addCommand(publishBatchCommand(terminal))
    .addCommand(schemaCommand(terminal));
}

export function runBatchCommand(terminal: Terminal): Command {
  const command = new Command('run')
    .description('run the tasks of a batch; run it again to continue')
    .argument('[file]', 'the batch file (YAML)')
    .addHelpText('after', EXAMPLES);
  addFlags(command, BATCH_FLAGS, 'batch run');
  refuseRepeats(command, ['prompt', 'prompt-file']);
  return command.action(async (file: string | undefined) => {
    applyVariables(command, terminal.variables);
    const { performBatchRun } = await import('./perform-batch.js');
    terminal.exitCode = await performBatchRun(file, command, terminal);
  });
}

function statusCommand(terminal: Terminal): Command {
  const command = new Command('status')
    .description('show the progress of the batch in a folder, or of a queue')
    .argument('[dir]', 'the folder of a batch')
    .addHelpText(
      'after',
      '\nExamples:\n  bosun batch status .bosun/batches/find-user\n  bosun batch status --queue redis://queue.internal:6379 --watch',
    );
  addFlags(command, FOLDER_FLAGS, 'batch status');
  return command.action(async (dir: string | undefined) => {
    applyVariables(command, terminal.variables);
    if (dir === undefined) {
      const { performQueueStatus } = await import('./perform-queue-status.js');
      await performQueueStatus(command.opts(), terminal);
    } else {
      const { performBatchStatus } = await import('./perform-batch-folder.js');
      performBatchStatus(dir, command.opts(), terminal);
    }
  });
}

function reportCommand(terminal: Terminal): Command {
  const command = new Command('report')
    .description('write the reports and results of the batch in a folder again')
    .argument('<dir>', 'the folder of a batch')
    .addHelpText(
      'after',
      '\nExample:\n  bosun batch report .bosun/batches/find-user --reporter junit=results.xml',
    );
  addFlags(command, FOLDER_FLAGS, 'batch report');
  return command.action(async (dir: string) => {
    applyVariables(command, terminal.variables);
    const { performBatchReport } = await import('./perform-batch-folder.js');
    await performBatchReport(dir, command.opts(), terminal);
  });
}

function mergeCommand(terminal: Terminal): Command {
  const command = new Command('merge')
    .description('join the folders of shards into one, with one exit code')
    .argument('<dir...>', 'folders of the same batch')
    .addHelpText(
      'after',
      '\nExample:\n  bosun batch merge shard-1 shard-2 --out all --reporter junit=results.xml',
    );
  addFlags(command, FOLDER_FLAGS, 'batch merge');
  return command.action(async (dirs: string[]) => {
    applyVariables(command, terminal.variables);
    const { performBatchMerge } = await import('./perform-batch-folder.js');
    terminal.exitCode = await performBatchMerge(dirs, command.opts(), terminal);
  });
}

function schemaCommand(terminal: Terminal): Command {
  return new Command('schema').description('print the JSON Schema of batch files').action(async () => {
    const { BATCH_SCHEMA } = await import('../batch/file/schema.js');
    terminal.stdout(`${toJsonText(BATCH_SCHEMA)}\n`);
  });
}
