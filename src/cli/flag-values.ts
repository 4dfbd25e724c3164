import type { Command } from 'commander';
import { configProblem } from '../protocol/problem.js';
import { namedCommand } from './command-tree.js';

/** `-p --mode plan`: commander would take `--mode` for the prompt, and `plan` for a second one. */
export function checkFlagValues(program: Command, words: readonly string[]): void {
  const named = namedCommand(program, words);
  const run = program.commands.find((one) => one.name() === 'run');
  const { options } = named === program && run ? run : named;
  const optionOf = (word: string | undefined) =>
    options.find(({ long, short }) => word !== undefined && (word === long || word === short));
  for (const [i, word] of words.entries()) {
    if (word === '--') return;
    const option = optionOf(word);
    const next = words[i + 1];
    if (!option?.required || !optionOf(next)) continue;
    throw configProblem('flags', `${word} has no value: ${next} is the next flag`, {
      hint: `If it is meant as the value, write ${option.long}=${next}.`,
    });
  }
}
