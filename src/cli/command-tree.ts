import type { Command } from 'commander';

/** A command and all its subcommands. */
export function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}

/** `policy check`; empty for the program itself. */
export function commandPath(command: Command): string {
  if (!command.parent) return '';
  return `${commandPath(command.parent)} ${command.name()}`.trim();
}

/** The command that words name, starting from the program. Undefined if there is none. */
export function findCommand(program: Command, words: readonly string[]): Command | undefined {
  return words.reduce<Command | undefined>(
    (command, word) => command?.commands.find((one) => one.name() === word),
    program,
  );
}

/** The command that the first arguments name, as far as they do. */
export function namedCommand(program: Command, words: readonly string[]): Command {
  const next = program.commands.find((one) => one.name() === words[0]);
  return next ? namedCommand(next, words.slice(1)) : program;
}
