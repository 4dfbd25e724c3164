import { Command, Option } from 'commander';
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
  progressOption,
  refuseRepeats,
  wholeNumber,
  WAIT_HELP,
} from './options.js';
import { REPORTER_HELP } from './reports.js';
import type { Terminal } from './terminal.js';

const EXAMPLES = `
Examples:
  bosun run -p 'Explain what src/server.ts does'
  bosun run --mode auto_edit -p 'Rename getUser to findUser everywhere'
  git diff | bosun run -p 'Review this change' --stdin diff
  cat prompt.txt | bosun run -o json | jq -r .response
  bosun run --mode yolo --timeout 10m --prompt-file task.md --transcript run.jsonl`;

/** `isNamed`: it is not only meant because no other command was. */
export function runCommand(terminal: Terminal, isNamed: boolean): Command {
  const command = new Command('run')
    .description('work on one task until the model has no tool calls left (the default command)')
    .argument('[prompt...]', 'the task; words are joined with spaces')
    .option('-p, --prompt <text>', 'the task')
    .option('--prompt-file <file>', 'read the task from a file (- for stdin)')
    .option('--stdin [label]', 'also read stdin and send it as an attachment with this name')
    .option('--allow-empty-stdin', 'go on if --stdin brings nothing')
    .addOption(
      new Option('--stdin-timeout <duration>', 'how long to wait for the first byte of stdin')
        .argParser(duration)
        .default(30_000, '30s'),
    )
    .option('--file <file>', 'attach a file: text, image, PDF, audio or video (repeatable)', collect)
    .option('-m, --model <name>', 'gemini-…, vertex/…, or openai/… (default: gemini-2.5-pro)')
    .addOption(
      new Option(
        '--tool-protocol <protocol>',
        'how the model calls tools; text is for models without function calling (default: native)',
      ).choices(TOOL_PROTOCOLS),
    )
    .option('-C, --cwd <dir>', 'the workspace (default: here)')
    .option('--untrusted-file <file>', 'attach a file from strangers (repeatable)', collect)
    .option('--untrusted', 'what comes by --stdin and --file is from strangers, too')
    .option('--policy <name>', 'a preset or a policy file (repeatable; the strictest counts)', collect)
    .addOption(
      new Option('--mode <mode>', 'what the model may do (default: plan); narrows a policy').choices(MODES),
    )
    .addOption(
      new Option(
        '--sandbox <mode>',
        'whether programs are confined (default: auto, where that works); at least as strict as the policy says',
      ).choices(SANDBOX_MODES),
    )
    .addOption(
      new Option('-o, --output-format <format>', 'what goes to stdout')
        .choices(['text', 'json', 'stream-json'])
        .default('text'),
    )
    .option('--reporter <name=file>', REPORTER_HELP, collect)
    .option(
      '--transcript <file>',
      'where the transcript goes (default: .bosun/runs/<run id>/transcript.jsonl)',
      fileName,
    )
    .addOption(
      new Option('--replay <file>', "take the model's turns from a transcript; tools really run").conflicts(
        'model',
      ),
    )
    .option(
      '--verify <command>',
      'a command line that must succeed when the model is done (repeatable)',
      collect,
    )
    .option('--require-changes', 'something in the workspace must have changed')
    .option('--patch-out <file>', 'write what the run has changed as a git patch, on failure too', fileName)
    .option('--dry-run', 'only read: calls that would change something are answered, but not carried out')
    .option('--output-schema <file>', 'the final answer must be JSON valid against this JSON Schema')
    .option('--max-turns <n>', 'stop after this many model responses (default: 100)', wholeNumber)
    .option('--max-tool-calls <n>', 'stop after this many tool calls (default: 1000)', wholeNumber)
    .option('--max-tokens <n>', 'stop once this many tokens are used', wholeNumber)
    .option('--max-cost <usd>', 'stop once this many dollars are spent', dollars)
    .option('--timeout <duration>', 'stop after this time (default: 30m)', duration)
    .option('--wait <duration>', WAIT_HELP, duration)
    .option('--include-thoughts', "ask for the model's thoughts and record them as events")
    .option('--include-tool-state', 'record each change of state of a call')
    .option('--include-tool-output', 'record what calls print while they run')
    .addHelpText('after', EXAMPLES);
  command.addOption(progressOption());
  addStderrOptions(command);
  refuseRepeats(command, ['prompt', 'prompt-file']);
  return command.action(async (words: string[]) => {
    applyVariables(command, terminal.variables);
    if (!isNamed && words.length > 0) {
      const { checkPrompt } = await import('./unknown-words.js');
      checkPrompt(command.parent as Command, words);
    }
    const { performRun } = await import('./actions.js');
    terminal.exitCode = await performRun(words, command, terminal);
  });
}
