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

/** `isNamed`: the command line says `run`; it is not just the default. */
export function runCommand(terminal: Terminal, isNamed: boolean): Command {
  const command = new Command('run')
    .description('work on one task until the model makes no more tool calls (the default command)')
    .argument('[prompt...]', 'the task; words are joined with spaces')
    .addHelpText('after', EXAMPLES);
  addFlags(command, FLAGS, 'run');
  refuseRepeats(command, ['prompt', 'prompt-file']);
  return command.action(async (words: string[]) => {
    applyVariables(command, terminal.variables);
    if (!isNamed && words.length > 0) {
      const { checkPrompt } = await import('./unknown-words.js');
      checkPrompt(command.parent as Command, words);
    }
    const { performRun } = await import('./perform-run.js');
    terminal.exitCode = await performRun(words, command, terminal);
  });
}
