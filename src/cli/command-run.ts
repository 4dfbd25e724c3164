import { Command } from 'commander';
import { addFlags } from './flags/row.js';
import { FLAGS } from './flags/table.js';
import { applyVariables, refuseRepeats } from './flags/variables.js';
import type { Terminal } from './terminal.js';

const EXAMPLES = `
Examples:
  bosun run -p 'Explain what src/server.ts does'
  bosun run --mode auto_edit -p 'Rename getUser to findUser everywhere'
  git diff | bosun run -p 'Review this change' --stdin diff
  cat prompt.txt | bosun run -o json | jq -r .response
  bosun run --mode yolo --timeout 10m --prompt-file task.md --transcript run.jsonl`;

/** `everything` creates the program with all its commands; absent if the command line says `run`. */
export function runCommand(terminal: Terminal, everything?: () => Promise<Command>): Command {
  const command = new Command('run')
    .description('work on one task until the model makes no more tool calls (the default command)')
    .argument('[prompt...]', 'the task; words are joined with spaces')
    .addHelpText('after', EXAMPLES);
  addFlags(command, FLAGS, 'run');
  refuseRepeats(command, ['prompt', 'prompt-file']);
  return command.action(async (words: string[]) => {
    applyVariables(command, terminal.variables);
    if (everything && words.length > 0) {
      const { checkPrompt } = await import('./unknown-words.js');
      await checkPrompt(everything, words);
    }
    const { performRun } = await import('./perform-run.js');
    terminal.exitCode = await performRun(words, command, terminal);
  });
}
