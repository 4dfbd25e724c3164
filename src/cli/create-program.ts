import { Command } from 'commander';
import { VERSION } from '../lib/version.js';
import { helpCommand } from './command-help.js';
import { COMMAND_NAMES, isCommandName, isOtherCommandName } from './command-names.js';
import { runCommand } from './command-run.js';
import { everyCommand } from './command-tree.js';
import type { Terminal } from './terminal.js';

const ABOUT = `
Start here:
  bosun demo                          a whole run from a recording: no key, no network
  bosun -p 'What does this do?'       read-only, with GEMINI_API_KEY set
  bosun run --help                    all options, examples and exit codes`;

/**
 * The program with the commands that the arguments need. The others get only their name: their options would take a good
 * part of the start-up time.
 */
export async function createProgram(
  argv: readonly string[],
  terminal: Terminal,
  packageRoot: URL,
  needsAll = concernsAll(argv, terminal),
): Promise<Command> {
  const program = new Command('bosun')
    .description('Runs a language model with tools where nobody is watching.')
    .version(
      VERSION,
      '-V, --version',
      'print the version; with --json also Node, platform, schema and commit',
    )
    .helpCommand(false)
    .addHelpText('after', ABOUT);
  const [, , first = ''] = argv;
  const isNeeded = (name: string) => needsAll || name === first;
  const commands = await otherCommands(isNeeded, terminal, packageRoot);
  if (isNeeded('run') || !isCommandName(first)) {
    const everything = () => createProgram(argv, terminal, packageRoot, true);
    commands['run'] = runCommand(terminal, first === 'run' ? undefined : everything);
  }
  for (const name of COMMAND_NAMES) {
    const command = commands[name] ?? new Command(name);
    program.addCommand(command, { isDefault: name === 'run', hidden: name === 'github-action' });
  }
  program.addCommand(helpCommand(program));
  for (const command of everyCommand(program)) {
    command.exitOverride();
    command.configureOutput({ writeOut: terminal.stdout, writeErr: () => {}, outputError: () => {} });
  }
  return program;
}

/** The commands besides `run`, by name. */
async function otherCommands(
  isNeeded: (name: string) => boolean,
  terminal: Terminal,
  packageRoot: URL,
): Promise<Record<string, Command>> {
  const commands: Record<string, Command> = {};
  if (COMMAND_NAMES.some((name) => isOtherCommandName(name) && isNeeded(name))) {
    const { OTHER_COMMANDS } = await import('./other-commands.js');
    for (const [name, make] of Object.entries(OTHER_COMMANDS))
      if (isNeeded(name)) commands[name] = make(terminal, packageRoot);
  }
  if (['batch', 'worker', 'publish'].some(isNeeded)) {
    const { batchCommand, workerCommand, publishCommand } = await import('./command-batch.js');
    Object.assign(commands, {
      batch: batchCommand(terminal),
      worker: workerCommand(terminal),
      publish: publishCommand(terminal),
    });
  }
  return commands;
}

/** Help, completion and the check of `BOSUN_…` variables need the options of every command. */
function concernsAll(argv: readonly string[], terminal: Terminal): boolean {
  return argv[2] === 'completion' || asksForHelp(argv) || hasVariables(terminal);
}

export function hasVariables({ variables }: Terminal): boolean {
  return Object.keys(variables).some((name) => name.startsWith('BOSUN_'));
}

export function asksForHelp(argv: readonly string[]): boolean {
  return argv[2] === 'help' || argv.some((word) => word === '--help' || word === '-h');
}
