import { Command, CommanderError } from 'commander';
import { EXIT_CODES, exitCodeOf } from '../protocol/outcome.js';
import { toJsonLine } from '../lib/jsonl.js';
import { oneLine } from '../lib/text.js';
import { configProblem, Problem, shortageProblem } from '../protocol/problem.js';
import { VERSION } from '../lib/version.js';
import { helpCommand } from './command-help.js';
import { runCommand } from './command-run.js';
import { reportProblem } from './reports.js';
import { checkFlagValues } from './flag-values.js';
import { COMMAND_NAMES, isCommandName, isOtherCommandName } from './command-names.js';
import { everyCommand, namedCommand, commandPath } from './command-tree.js';
import { Terminal } from './terminal.js';

const ABOUT = `
Start here:
  bosun demo                          a whole run from a recording: no key, no network
  bosun -p 'What does this do?'       read-only, with GEMINI_API_KEY set
  bosun run --help                    all options, examples and exit codes`;

/** Commands that are not needed get only their name: their options take a good part of the start-up time. */
function createProgram(
  argv: readonly string[],
  terminal: Terminal,
  others: Readonly<Record<string, Command>>,
): Command {
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
  const isRunNeeded = first === 'run' || !isCommandName(first) || concernsAll(argv, terminal);
  for (const name of COMMAND_NAMES) {
    const isRun = name === 'run' && isRunNeeded;
    const command = isRun ? runCommand(terminal, first === 'run') : (others[name] ?? new Command(name));
    program.addCommand(command, { isDefault: name === 'run', hidden: name === 'github-action' });
  }
  program.addCommand(helpCommand(program));
  for (const command of everyCommand(program)) {
    command.exitOverride();
    command.configureOutput({ writeOut: terminal.stdout, writeErr: () => {}, outputError: () => {} });
  }
  return program;
}

/** Parses the arguments, runs a command, and ends the process with its exit code. */
export async function runProgram(argv: readonly string[], packageRoot: URL): Promise<void> {
  const terminal = new Terminal();
  const program = createProgram(argv, terminal, await otherCommands(argv, terminal, packageRoot));
  try {
    if (asksForHelp(argv)) {
      const [{ bindManual }, { checkHelpTopic }] = await Promise.all([
        import('./manual.js'),
        import('./unknown-words.js'),
      ]);
      checkHelpTopic(program, argv.slice(2));
      bindManual(everyCommand(program), process.stdout.columns);
    } else if (hasVariables(terminal)) {
      const { checkVariables } = await import('./unknown-words.js');
      checkVariables(program, terminal.variables);
    }
    checkFlagValues(program, argv.slice(2));
    await program.parseAsync(argv);
  } catch (error) {
    if (!isHelp(error)) await reportFailure(problemOf(error, program, argv), argv, terminal);
  }
  terminal.leave();
}

/** The commands besides `run` that are needed, by name: loading them all would slow down every start. */
async function otherCommands(
  argv: readonly string[],
  terminal: Terminal,
  packageRoot: URL,
): Promise<Readonly<Record<string, Command>>> {
  const [, , first = ''] = argv;
  const isAll = concernsAll(argv, terminal);
  const commands: Record<string, Command> = {};
  if (isAll || isOtherCommandName(first)) {
    const { OTHER_COMMANDS } = await import('./other-commands.js');
    for (const [name, make] of Object.entries(OTHER_COMMANDS))
      if (isAll || name === first) commands[name] = make(terminal, packageRoot);
  }
  if (isAll || first === 'batch' || first === 'worker') {
    const { batchCommand, workerCommand } = await import('./command-batch.js');
    Object.assign(commands, { batch: batchCommand(terminal), worker: workerCommand(terminal) });
  }
  return commands;
}

/** Help, completion and the check of `BOSUN_…` variables need the options of every command. */
function concernsAll(argv: readonly string[], terminal: Terminal): boolean {
  return argv[2] === 'completion' || asksForHelp(argv) || hasVariables(terminal);
}

function hasVariables({ variables }: Terminal): boolean {
  return Object.keys(variables).some((name) => name.startsWith('BOSUN_'));
}

function asksForHelp(argv: readonly string[]): boolean {
  return argv[2] === 'help' || argv.some((word) => word === '--help' || word === '-h');
}

/** Help or the version was asked for, and is printed. */
function isHelp(error: unknown): boolean {
  return error instanceof CommanderError && error.exitCode === 0;
}

async function reportFailure(error: unknown, argv: readonly string[], terminal: Terminal): Promise<void> {
  const format = wantsJson(argv, terminal) ? 'json' : 'text';
  await reportProblem(argv, format, terminal, error);
  terminal.exitCode = printError(error, terminal);
  if (format === 'text') return;
  const { bareResult } = await import('../runs/bare-result.js');
  terminal.stdout(`${toJsonLine(bareResult(error, terminal.redactor))}\n`);
}

/** Programs that read JSON always get a result, even if the flags are wrong. */
function wantsJson(argv: readonly string[], { variables }: Terminal): boolean {
  const asked = /(?:^|\n)(?:-o|--output-format)[=\n]?((?:stream-)?json)(?:\n|$)/.exec(argv.join('\n'));
  return asked !== null || /^(stream-)?json$/.test(variables['BOSUN_OUTPUT_FORMAT'] ?? '');
}

/** Prints one line about what is wrong, and returns its exit code. */
function printError(error: unknown, terminal: Terminal): number {
  if (error instanceof Problem) {
    const hint = error.hint ? ` ${error.hint}` : '';
    terminal.stderr(`bosun: error: ${oneLine(`${error.message.replace(/\.?$/, '.')}${hint}`, 2000)}\n`);
    return exitCodeOf({ status: error.status, reason: error.code });
  }
  terminal.stderr(`bosun: error: internal_error: ${error instanceof Error ? error.stack : String(error)}\n`);
  return EXIT_CODES.internal_error;
}

function problemOf(error: unknown, program: Command, argv: readonly string[]): unknown {
  if (!(error instanceof CommanderError)) return shortageProblem(error) ?? error;
  const command = namedCommand(program, argv.slice(2));
  const name = `bosun ${commandPath(command)}`.trim();
  const subcommands = command.commands.map((one) => one.name()).filter((one) => one !== 'help');
  const message =
    error.code === 'commander.help'
      ? `${name} needs a subcommand: ${subcommands.join(', ')}`
      : error.message.replace(/^error: /, '');
  return configProblem('flags', message, { hint: `See ${name} --help.` });
}
