import { CommanderError, type Command } from 'commander';
import { EXIT_CODES, exitCodeOf } from '../protocol/outcome.js';
import { toJsonLine } from '../lib/jsonl.js';
import { oneLine } from '../lib/text.js';
import { configProblem, Problem, shortageProblem } from '../protocol/problem.js';
import { asksForHelp, createProgram, hasVariables } from './create-program.js';
import { reportProblem } from './reports.js';
import { checkFlagValues } from './flag-values.js';
import { everyCommand, namedCommand, commandPath } from './command-tree.js';
import { Terminal } from './terminal.js';

/** Parses the arguments, runs a command, and ends the process with its exit code. */
export async function runCommandLine(argv: readonly string[], packageRoot: URL): Promise<void> {
  const terminal = new Terminal();
  const program = await createProgram(argv, terminal, packageRoot);
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
