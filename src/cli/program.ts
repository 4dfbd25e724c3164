import { Command, CommanderError } from 'commander';
import { EXIT_CODES } from '../protocol/outcome.js';
import { Problem } from '../protocol/problem.js';
import { VERSION } from '../runs/version.js';
import { demoCommand } from './command-demo.js';
import { reportCommand } from './command-report.js';
import { runCommand } from './command-run.js';
import { toolsCommand } from './command-tools.js';
import { verifyCommand } from './command-verify.js';
import { Terminal } from './terminal.js';

const ABOUT = `
Start here:
  bosun demo                          a whole run on a recording: no key, no network
  bosun -p 'What does this do?'       read-only, with GEMINI_API_KEY set
  bosun run --help                    all options, examples and exit codes`;

function createProgram(terminal: Terminal, packageRoot: URL): Command {
  const program = new Command('bosun')
    .description('Runs a language model with tools where nobody is watching.')
    .version(VERSION, '--version', 'print the version')
    .helpCommand(false)
    .addHelpText('after', ABOUT)
    .addCommand(runCommand(terminal), { isDefault: true })
    .addCommand(reportCommand(terminal))
    .addCommand(verifyCommand(terminal))
    .addCommand(toolsCommand(terminal))
    .addCommand(demoCommand(terminal, packageRoot));
  for (const command of [program, ...program.commands]) {
    command.exitOverride().configureOutput({ writeOut: terminal.stdout, outputError: () => {} });
  }
  return program;
}

/** Parses the arguments, runs a command, and ends the process with its exit code. */
export async function runProgram(argv: readonly string[], packageRoot: URL): Promise<void> {
  const terminal = new Terminal();
  const program = createProgram(terminal, packageRoot);
  try {
    await program.parseAsync(argv);
  } catch (error) {
    terminal.exitCode = complain(error, terminal);
  }
  terminal.leave();
}

/** One line about what cannot be used, and the exit code for it. */
function complain(error: unknown, terminal: Terminal): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    const message = error.message.replace(/^error: /, '').replaceAll(/\s*\n\s*/g, ' ');
    terminal.stderr(`bosun: error: ${message.replace(/\.?$/, '.')} See bosun --help.\n`);
    return EXIT_CODES.config_error;
  }
  if (error instanceof Problem) {
    terminal.stderr(`bosun: error: ${error.message}.${error.hint ? ` ${error.hint}` : ''}\n`);
    return EXIT_CODES[error.status];
  }
  terminal.stderr(`bosun: error: internal_error: ${error instanceof Error ? error.stack : String(error)}\n`);
  return EXIT_CODES.internal_error;
}
