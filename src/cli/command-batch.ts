import { Command, InvalidArgumentError, Option } from 'commander';
import { MODES } from '../protocol/decision.js';
import { TOOL_PROTOCOLS } from '../protocol/provider.js';
import { SANDBOX_MODES } from '../protocol/sandbox.js';
import {
  addStderrOptions,
  applyVariables,
  collect,
  dollars,
  duration,
  fileName,
  refuseRepeats,
  wholeNumber,
} from './options.js';
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

function shard(text: string) {
  const [, index = '', count = ''] = /^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? [];
  const flag = { index: Number(index), count: Number(count) };
  if (flag.index < 1 || flag.count < 1 || flag.index > flag.count)
    throw new InvalidArgumentError('Give I/N with I from 1 to N, such as 2/8.');
  return flag;
}

/** A number of things of which there must be one at least. */
function someNumber(text: string): number {
  const number = wholeNumber(text);
  if (number < 1) throw new InvalidArgumentError('Give a whole number, 1 or more.');
  return number;
}

function runBatchCommand(terminal: Terminal): Command {
  const command = new Command('run')
    .description('run the tasks of a batch; the same command again goes on with what is not done')
    .argument('[file]', 'the batch file (YAML)')
    .option('-p, --prompt <text>', 'the task; {{name}} stands for a value of it')
    .option('--prompt-file <file>', 'read the prompt from a file')
    .option('--each <glob>', 'without a batch file: one task for each file, {{file}} (repeatable)', collect)
    .option(
      '--tasks <file>',
      'without a batch file: tasks from a .jsonl, .csv or .yaml file (- for JSONL on stdin)',
    )
    .option(
      '--untrusted-value <name>',
      'a value from strangers: attached, never part of the prompt (repeatable)',
      collect,
    )
    .option('--file <file>', 'attach a file to every task (repeatable)', collect)
    .option('--untrusted-file <file>', 'attach a file from strangers to every task (repeatable)', collect)
    .option('--name <name>', 'without a batch file: the name of the batch')
    .option('--out <dir>', 'the folder of the batch (default: .bosun/batches/<name>)', fileName)
    .option('--only <glob>', 'only tasks with such an id (repeatable)', collect)
    .option('--retry-failed', 'run failed tasks again')
    .option('--redo <glob>', 'run tasks with such an id again, completed ones too (repeatable)', collect)
    .option('--shard <i/n>', 'only the tasks of the i-th of n parts', shard)
    .option('-m, --model <name>', 'gemini-…, vertex/…, or openai/… (default: gemini-2.5-pro)')
    .addOption(new Option('--tool-protocol <protocol>', 'how the model calls tools').choices(TOOL_PROTOCOLS))
    .option('-C, --cwd <dir>', 'the workspace (default: here)')
    .option('--policy <name>', 'a preset or a policy file (repeatable; the strictest counts)', collect)
    .addOption(
      new Option('--mode <mode>', 'what the model may do (default: plan); narrows a policy').choices(MODES),
    )
    .addOption(new Option('--sandbox <mode>', 'whether programs are confined').choices(SANDBOX_MODES))
    .addOption(
      new Option(
        '--isolation <kind>',
        'clone: each task in a clone of its own; none: all in the workspace',
      ).choices(['clone', 'none']),
    )
    .option('--base <commit>', 'the commit that clones are made of (default: HEAD)')
    .option('--concurrency <n>', 'how many tasks run at once (default: 8)', someNumber)
    .option('--attempts <n>', 'how often a task is tried (default: 3)', someNumber)
    .option('--max-cost <usd>', 'of the whole batch: pause once this many dollars are spent', dollars)
    .option('--max-tokens <n>', 'of the whole batch: pause once this many tokens are used', wholeNumber)
    .option('--timeout <duration>', 'of the whole batch: pause after this time', duration)
    .option('--max-turns <n>', 'of each task: stop after this many model responses', wholeNumber)
    .option('--max-tool-calls <n>', 'of each task: stop after this many tool calls', wholeNumber)
    .option(
      '--verify <command>',
      'a command line that must succeed when a task is done (repeatable)',
      collect,
    )
    .option('--require-changes', 'each task must have changed something')
    .option('--output-schema <file>', 'each answer must be JSON valid against this JSON Schema')
    .option('--dry-run', 'only read: calls that would change something are answered, but not carried out')
    .addOption(
      new Option('-o, --output-format <format>', 'what goes to stdout')
        .choices(['text', 'json', 'stream-json'])
        .default('text'),
    )
    .addHelpText('after', EXAMPLES);
  addStderrOptions(command);
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
