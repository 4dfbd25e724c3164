import { Command } from 'commander';
import { configProblem } from '../protocol/problem.js';
import { findCommand } from './command-tree.js';

/** `bosun help run`. Commander's own calls any other word an error without naming it. */
export function helpCommand(program: Command): Command {
  return new Command('help')
    .description('show the help of a command')
    .argument('[command...]', 'the command, such as run or policy check')
    .action((words: string[]) => {
      const command = findCommand(program, words);
      if (command) return void command.outputHelp();
      throw configProblem('flags', `there is no command ${words.join(' ')}`, {
        hint: 'See bosun --help. A prompt that begins with the word help needs -p.',
      });
    });
}
