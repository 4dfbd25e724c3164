import { fstatSync } from 'node:fs';
import type { LogLevel } from '../lib/log-level.js';
import { Log } from '../lib/log.js';
import { CANCEL_CODES } from '../protocol/outcome.js';

export const COLOR_CHOICES = ['auto', 'always', 'never'] as const;

export interface StderrFlags {
  readonly logLevel?: LogLevel;
  readonly logFormat: 'pretty' | 'json';
  readonly quiet?: boolean;
  readonly color: (typeof COLOR_CHOICES)[number];
}

/** The process as the commands see it: the only place that touches its streams. */
export class Terminal {
  readonly variables: Readonly<Record<string, string | undefined>> = process.env;
  /** Set by the command that ran. */
  exitCode = 0;

  stdout = (text: string): void => void process.stdout.write(text);
  stderr = (text: string): void => void process.stderr.write(text);

  log({ logLevel, logFormat, quiet, color }: StderrFlags): Log {
    const level = logLevel ?? (quiet ? 'error' : 'info');
    return new Log({
      level,
      format: logFormat,
      color: this.colors(color, process.stderr),
      write: this.stderr,
    });
  }

  colors(choice: StderrFlags['color'], stream: { isTTY?: boolean }): boolean {
    if (choice !== 'auto') return choice === 'always';
    return stream.isTTY === true && !this.variables['NO_COLOR'];
  }

  get stderrIsTerminal(): boolean {
    return process.stderr.isTTY === true;
  }

  /** Where a CI runner reads what we print, and obeys commands in it. */
  get runnerReadsOutput(): boolean {
    return this.variables['GITHUB_ACTIONS'] === 'true';
  }

  /** Something is waiting in stdin that a run with a prompt of its own will not read. */
  get stdinIsPiped(): boolean {
    try {
      const stats = fstatSync(0);
      return stats.isFIFO() || stats.isFile() || stats.isSocket();
    } catch {
      return false;
    }
  }

  get stdinIsTerminal(): boolean {
    return process.stdin.isTTY === true;
  }
}

/** Ends the process once stdout has taken everything, however slow its reader is. */
export function exitWhenDrained(code: number): void {
  process.exitCode = code;
  const { stdout } = process;
  // An answer that nobody could read is not success.
  const leave = (failed: boolean) => process.exit(failed && code === 0 ? CANCEL_CODES.stdout_closed : code);
  if (stdout.destroyed) leave(true);
  else if (stdout.writableLength === 0) leave(stdout.errored !== null);
  else stdout.write('', (error) => leave(Boolean(error)));
}
