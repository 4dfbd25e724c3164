import { isUtf8 } from 'node:buffer';
import { fstatSync, readFileSync } from 'node:fs';
import { errorCode } from '../lib/errors.js';
import { Log } from '../lib/log.js';
import { neutralizeCommands } from '../lib/text.js';
import { CANCEL_CODES } from '../protocol/outcome.js';
import { configProblem } from '../protocol/problem.js';
import { defaultRedactor } from '../runs/default-redactor.js';
import type { PolicyRequest } from '../policy/load.js';
import type { StderrFlags } from './flags/table.js';
import { hideOwnEnvironment } from './own-environment.js';

/** The process as the commands see it: the only place that touches its streams. */
export class Terminal {
  readonly variables: Readonly<Record<string, string | undefined>> = process.env;
  /** A CI runner reads our output, whatever the environment says. */
  #runnerReads = false;
  /** Set by the command that ran. */
  exitCode = 0;
  #stdoutError: Error | undefined;

  constructor() {
    hideOwnEnvironment(process.env);
    process.stdout.on('error', (error) => (this.#stdoutError ??= error));
    // Errors cannot be reported any more; the work goes on.
    process.stderr.on('error', () => {});
  }

  /** Secrets of the environment are never shown. */
  redactor = defaultRedactor(this.variables);
  stdout = (text: string): void => this.print(this.redactor.text(text));
  /** Like `stdout`, for untrusted text: it may not be a command to the runner that shows it. */
  show = (text: string): void => this.stdout(this.runnerReadsOutput ? neutralizeCommands(text) : text);
  /** For text that is redacted already. */
  print = (text: string): void => void process.stdout.write(text);
  /** Runners obey commands on stderr, too. */
  stderr = (text: string): void => {
    const clean = this.redactor.text(text);
    process.stderr.write(this.runnerReadsOutput ? neutralizeCommands(clean) : clean);
  };

  /** For commands to a runner: on stderr if stdout is for a program that reads JSON. */
  command(format: string): (text: string) => void {
    this.#runnerReads = true;
    return (text) => void (format.endsWith('json') ? process.stderr : process.stdout).write(text);
  }

  log({ logLevel, logFormat, quiet, color }: StderrFlags): Log {
    const level = logLevel ?? (quiet ? 'error' : 'info');
    return new Log({
      level,
      format: logFormat,
      color: this.colors(color, process.stderr),
      write: this.stderr,
    });
  }

  /** Policies' secrets are redacted as well from now on. */
  learn: NonNullable<PolicyRequest['onLoaded']> = async (policy) => {
    const { redactorFor } = await import('../runs/redaction.js');
    this.redactor = await redactorFor(this.variables, policy);
  };

  colors(choice: StderrFlags['color'], stream: { isTTY?: boolean }): boolean {
    const { NO_COLOR, FORCE_COLOR } = this.variables;
    if (choice !== 'auto') return choice === 'always';
    if (NO_COLOR) return false;
    if (FORCE_COLOR) return isTrue(FORCE_COLOR);
    return stream.isTTY === true && this.variables['TERM'] !== 'dumb';
  }

  get cwd(): string {
    try {
      return process.cwd();
    } catch {
      throw configProblem('cwd', 'the current directory no longer exists', {
        hint: 'Give another with --cwd.',
      });
    }
  }

  /** Whether stderr is a screen whose lines can be overwritten. Logs of CI jobs are not, whatever they claim. */
  get canRedraw(): boolean {
    return process.stderr.isTTY === true && this.variables['TERM'] !== 'dumb' && !this.runnerReadsOutput;
  }

  /** Whether a CI runner reads our output, and may obey commands in it. */
  get runnerReadsOutput(): boolean {
    if (this.#runnerReads) return true;
    return ['GITHUB_ACTIONS', 'CI', 'TF_BUILD'].some((name) => isTrue(this.variables[name] ?? ''));
  }

  /** Whether stdin holds something that a run with its own prompt will not read. */
  get stdinIsPiped(): boolean {
    try {
      const stats = fstatSync(0);
      return stats.isFIFO() || stats.isFile() || stats.isSocket();
    } catch {
      return false;
    }
  }

  /** Whether a person sees both stdout and stderr. */
  get isScreen(): boolean {
    return process.stdout.isTTY === true && process.stderr.isTTY === true;
  }

  get stdinIsTerminal(): boolean {
    return process.stdin.isTTY === true;
  }

  /** Ends the process once all of stdout is written, however slow its reader is. */
  leave(): void {
    // An answer that nobody could read is not success. The stream forgets its errors, so they are kept here.
    const code = () => {
      if (!this.#stdoutError || this.exitCode !== 0) return this.exitCode;
      const why = errorCode(this.#stdoutError) ?? this.#stdoutError.message;
      this.stderr(`bosun: stdout could not be written (${why}): the output is incomplete\n`);
      return CANCEL_CODES.stdout_closed;
    };
    process.exitCode = this.exitCode;
    process.stdout.write('', () => setImmediate(() => process.exit(code())));
  }
}

/** Whether a variable is set to mean yes. */
function isTrue(value: string): boolean {
  return !/^(0|false|no|off|)$/i.test(value);
}

/** Whether the arguments contained bytes that are not UTF-8. Only Linux can tell. */
export function argumentsAreBroken(): boolean {
  try {
    return !isUtf8(readFileSync('/proc/self/cmdline'));
  } catch {
    return false;
  }
}
