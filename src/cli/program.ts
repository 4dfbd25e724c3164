import { Command, CommanderError } from 'commander';
import { EXIT_CODES, exitCodeOf } from '../protocol/outcome.js';
import { toJsonLine } from '../lib/jsonl.js';
import { oneLine } from '../lib/text.js';
import { configProblem, Problem, shortageProblem } from '../protocol/problem.js';
import { VERSION } from '../lib/version.js';
import { approveCommand } from './command-approve.js';
import { compareCommand } from './command-compare.js';
import { completionCommand } from './command-completion.js';
import { demoCommand } from './command-demo.js';
import { doctorCommand } from './command-doctor.js';
import { gitHubActionCommand } from './command-github-action.js';
import { helpCommand } from './command-help.js';
import { policyCommand } from './command-policy.js';
import { reportCommand } from './command-report.js';
import { resumeCommand } from './command-resume.js';
import { runCommand } from './command-run.js';
import { reportProblem } from './reports.js';
import { runsCommand } from './command-runs.js';
import { toolsCommand } from './command-tools.js';
import { checkFlagValues } from './flag-values.js';
import { everyCommand, namedCommand, commandPath } from './command-tree.js';
import { verifyCommand } from './command-verify.js';
import { versionCommand } from './command-version.js';
import { Terminal } from './terminal.js';

const ABOUT = `
Start here:
  bosun demo                          a whole run from a recording: no key, no network
  bosun -p 'What does this do?'       read-only, with GEMINI_API_KEY set
  bosun run --help                    all options, examples and exit codes`;

const emptyCommand = (name: string) => () => new Command(name);

/** How each command is made, in the order of the help; the batch commands only by `commandsOfMany`. */
const COMMANDS: Readonly<
  Record<string, (terminal: Terminal, packageRoot: URL, isNamed: boolean) => Command>
> = {
  run: (terminal, _, isNamed) => runCommand(terminal, isNamed),
  resume: resumeCommand,
  approve: approveCommand,
  policy: policyCommand,
  batch: emptyCommand('batch'),
  worker: emptyCommand('worker'),
  report: reportCommand,
  compare: compareCommand,
  verify: verifyCommand,
  runs: runsCommand,
  tools: toolsCommand,
  doctor: doctorCommand,
  demo: demoCommand,
  completion: completionCommand,
  version: versionCommand,
  'github-action': gitHubActionCommand,
};

/** Commands not asked for get only their name: their options take a good part of the start-up time. */
function createProgram(
  argv: readonly string[],
  terminal: Terminal,
  packageRoot: URL,
  batchCommands: BatchCommands | undefined,
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
  const isOne = Object.hasOwn(COMMANDS, first) && batchCommands === undefined;
  for (const [name, make] of Object.entries(COMMANDS)) {
    const isAsked = !isOne || name === first;
    const own = name === 'batch' || name === 'worker' ? batchCommands?.[name] : undefined;
    const command = isAsked ? make(terminal, packageRoot, first === 'run') : new Command(name);
    program.addCommand(own ?? command, {
      isDefault: name === 'run',
      hidden: name === 'github-action',
    });
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
  const batchCommands = await loadBatchCommands(argv, terminal);
  const program = createProgram(argv, terminal, packageRoot, batchCommands);
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

interface BatchCommands {
  readonly batch: Command;
  readonly worker: Command;
}

/** The many options of batches and workers are loaded only if they may be needed. */
async function loadBatchCommands(
  argv: readonly string[],
  terminal: Terminal,
): Promise<BatchCommands | undefined> {
  const isNeeded =
    ['batch', 'worker', 'completion'].includes(argv[2] ?? '') || asksForHelp(argv) || hasVariables(terminal);
  if (!isNeeded) return undefined;
  const { batchCommand, workerCommand } = await import('./command-batch.js');
  return { batch: batchCommand(terminal), worker: workerCommand(terminal) };
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
