import type { Command } from 'commander';
import { nearest } from '../lib/nearest.js';
import { configProblem, type Problem } from '../protocol/problem.js';
import { everyCommand, namedCommand, commandPath } from './command-tree.js';
import { variableOf } from './flags/variables.js';

/** Variables that are not options: what the action hands over, and what marks the processes of a command. */
const OTHER_VARIABLES = ['BOSUN_ACTION_INPUTS', 'BOSUN_COMMAND_ID'];

/**
 * Without `run` in front of it, only a single argument with a blank in it is a prompt: otherwise a misspelt
 * command would cost money, and succeed. The program is made only to name the nearest command.
 */
export async function checkPrompt(program: () => Promise<Command>, words: readonly string[]): Promise<void> {
  const [first] = words;
  if (first === undefined || (words.length === 1 && /\s/.test(first.trim()))) return;
  throw noCommand(await program(), first, words.join(' '));
}

/** `--help` after a misspelt command may not show the help of another one. */
export function checkHelpTopic(program: Command, words: readonly string[]): void {
  const named = namedCommand(program, words);
  const path = commandPath(named);
  const next = words[path === '' ? 0 : path.split(' ').length];
  if (named.commands.length === 0 || next === undefined || /^-|\s/.test(next)) return;
  if (path === '') throw noCommand(program, next, next);
  const near = nearest(
    next,
    named.commands.map((one) => one.name()),
  );
  throw configProblem('command', `there is no command "${path} ${next}"`, {
    hint: near === undefined ? `See bosun ${path} --help.` : `Did you mean \`bosun ${path} ${near}\`?`,
  });
}

function noCommand(program: Command, word: string, prompt: string): Problem {
  const paths = everyCommand(program)
    .filter((command) => command.parent && command.name() !== 'github-action')
    .map(commandPath);
  const meant = paths.find((path) => path.split(' ').at(-1) === word) ?? nearest(word, paths);
  const guess = meant === undefined ? 'See bosun --help.' : `Did you mean \`bosun ${meant}\`?`;
  return configProblem('command', `there is no command ${JSON.stringify(word)}`, {
    hint: `${guess} To send it as a prompt: bosun run -p '${prompt.replaceAll("'", String.raw`'\''`)}'`,
  });
}

type Variables = Readonly<Record<string, string | undefined>>;

/** A misspelt variable may not be ignored. Empty ones count as absent. */
export function checkVariables(program: Command, variables: Variables): void {
  const unknown = Object.keys(variables).filter((name) => name.startsWith('BOSUN_') && variables[name]);
  if (unknown.length === 0) return;
  const options = everyCommand(program).flatMap((command) => command.options.map(variableOf));
  const known = new Set([...options, ...OTHER_VARIABLES]);
  const wrong = unknown.find((name) => !known.has(name));
  if (wrong === undefined) return;
  const near = nearest(wrong, options);
  throw configProblem('variable', `there is no option for the variable ${wrong}`, {
    hint: near === undefined ? 'Unset it; bosun run --help lists the options.' : `Did you mean ${near}?`,
  });
}
