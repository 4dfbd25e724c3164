import { Command, CommanderError } from 'commander';
import { EXIT_CODES } from '../protocol/outcome.js';
import { toJsonLine } from '../lib/jsonl.js';
import { oneLine } from '../lib/text.js';
import { configProblem, Problem, shortage } from '../protocol/problem.js';
import { VERSION } from '../lib/version.js';
import { approveCommand } from './command-approve.js';
import { completionCommand } from './command-completion.js';
import { demoCommand } from './command-demo.js';
import { gitHubActionCommand } from './command-github-action.js';
import { helpCommand } from './command-help.js';
import { policyCommand } from './command-policy.js';
import { reportCommand } from './command-report.js';
import { resumeCommand } from './command-resume.js';
import { runCommand } from './command-run.js';
import { reportProblem } from './reports.js';
import { toolsCommand } from './command-tools.js';
import { everyCommand } from './command-tree.js';
import { verifyCommand } from './command-verify.js';
import { versionCommand } from './command-version.js';
import { Terminal } from './terminal.js';

const ABOUT = `
Start here:
  bosun demo                          a whole run on a recording: no key, no network
  bosun -p 'What does this do?'       read-only, with GEMINI_API_KEY set
  bosun run --help                    all options, examples and exit codes`;

function createProgram(
  terminal: Terminal,
  packageRoot: URL,
  isNamed: boolean,
  { batch, worker }: ManyCommands,
): Command {
  const program = new Command('bosun')
    .description('Runs a language model with tools where nobody is watching.')
    .version(
      VERSION,
      '-V, --version',
      'print the version; with --json also Node, platform, schema and commit',
    )
    .helpCommand(false)
    .addHelpText('after', ABOUT)
    .addCommand(runCommand(terminal, isNamed), { isDefault: true })
    .addCommand(resumeCommand(terminal))
    .addCommand(approveCommand(terminal))
    .addCommand(policyCommand(terminal))
    .addCommand(batch)
    .addCommand(worker)
    .addCommand(reportCommand(terminal))
    .addCommand(verifyCommand(terminal))
    .addCommand(toolsCommand(terminal))
    .addCommand(demoCommand(terminal, packageRoot))
    .addCommand(completionCommand(terminal))
    .addCommand(versionCommand(terminal))
    .addCommand(gitHubActionCommand(terminal, packageRoot), { hidden: true });
  program.addCommand(helpCommand(program));
  for (const command of everyCommand(program)) {
    command.exitOverride().configureOutput({ writeOut: terminal.stdout, outputError: () => {} });
  }
  return program;
}

/** Parses the arguments, runs a command, and ends the process with its exit code. */
export async function runProgram(argv: readonly string[], packageRoot: URL): Promise<void> {
  const terminal = new Terminal();
  const many = await commandsOfMany(argv, terminal);
  const program = createProgram(terminal, packageRoot, argv[2] === 'run', many);
  try {
    if (asksForHelp(argv)) {
      const { bindManual } = await import('./manual.js');
      bindManual(everyCommand(program), process.stdout.columns);
    } else if (hasVariables(terminal)) {
      const { checkVariables } = await import('./unknown-words.js');
      checkVariables(program, terminal.variables);
    }
    await program.parseAsync(argv);
  } catch (error) {
    if (!isHelp(error)) await fail(error, argv, terminal);
  }
  terminal.leave();
}

interface ManyCommands {
  readonly batch: Command;
  readonly worker: Command;
}

/** The many options of batches and workers are loaded only where somebody may ask for them. */
async function commandsOfMany(argv: readonly string[], terminal: Terminal): Promise<ManyCommands> {
  const isNeeded =
    ['batch', 'worker', 'completion'].includes(argv[2] ?? '') || asksForHelp(argv) || hasVariables(terminal);
  if (!isNeeded) return { batch: new Command('batch'), worker: new Command('worker') };
  const { batchCommand, workerCommand } = await import('./command-batch.js');
  return { batch: batchCommand(terminal), worker: workerCommand(terminal) };
}

function hasVariables({ variables }: Terminal): boolean {
  return Object.keys(variables).some((name) => name.startsWith('BOSUN_'));
}

function asksForHelp(argv: readonly string[]): boolean {
  return argv[2] === 'help' || argv.some((word) => word === '--help' || word === '-h');
}

/** Help and the version were asked for, and are out. */
function isHelp(error: unknown): boolean {
  return error instanceof CommanderError && error.exitCode === 0;
}

async function fail(error: unknown, argv: readonly string[], terminal: Terminal): Promise<void> {
  const format = wantsJson(argv, terminal) ? 'json' : 'text';
  await reportProblem(argv, format, terminal, asProblem(error));
  terminal.exitCode = complain(error, terminal);
  if (format === 'text') return;
  const { bareResult } = await import('./actions.js');
  terminal.stdout(`${toJsonLine(bareResult(asProblem(error), terminal.redactor))}\n`);
}

/** Whoever reads JSON gets a result in any case, also if the flags themselves are wrong. */
function wantsJson(argv: readonly string[], { variables }: Terminal): boolean {
  const asked = /(?:^|\n)(?:-o|--output-format)[=\n]?((?:stream-)?json)(?:\n|$)/.exec(argv.join('\n'));
  return asked !== null || /^(stream-)?json$/.test(variables['BOSUN_OUTPUT_FORMAT'] ?? '');
}

/** One line about what cannot be used, and the exit code for it. */
function complain(error: unknown, terminal: Terminal): number {
  const problem = asProblem(error);
  if (problem instanceof Problem) {
    const hint = problem.hint ? ` ${problem.hint}` : '';
    terminal.stderr(`bosun: error: ${oneLine(`${problem.message.replace(/\.?$/, '.')}${hint}`, 2000)}\n`);
    return EXIT_CODES[problem.status];
  }
  terminal.stderr(`bosun: error: internal_error: ${error instanceof Error ? error.stack : String(error)}\n`);
  return EXIT_CODES.internal_error;
}

function asProblem(error: unknown): unknown {
  if (!(error instanceof CommanderError)) return shortage(error) ?? error;
  const message =
    error.code === 'commander.help' ? 'a subcommand is missing' : error.message.replace(/^error: /, '');
  return configProblem('flags', message, { hint: 'See bosun --help.' });
}
