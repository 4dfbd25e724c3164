import { errorMessage } from '../lib/errors.js';
import { OutputFile } from '../lib/output-file.js';
import type { Redactor } from '../lib/redact/redactor.js';
import { oneLine } from '../lib/text.js';
import { Problem } from '../protocol/problem.js';
import type { CommandEnd, CommandRequest, RunCommand } from '../protocol/process.js';

export interface SetupCommands extends Pick<
  CommandRequest,
  'directory' | 'environment' | 'timeoutMs' | 'idleTimeoutMs' | 'signal'
> {
  readonly commands: readonly string[];
  readonly runCommand: RunCommand;
  readonly redactor: Redactor;
  /** Where their output goes, one file each: `FILE-1.txt`. */
  readonly output: string;
  /** Why no result counts any more, if so. */
  readonly lost: () => string | undefined;
}

const SHOWN_OUTPUT = 4000;

/** Runs the user's own commands in order. Throws a Problem if one fails. */
export async function runSetupCommands(settings: SetupCommands): Promise<void> {
  const { commands, runCommand, redactor, output: file, lost, ...common } = settings;
  for (const [i, command] of commands.entries()) {
    const path = `${file}-${i + 1}.txt`;
    const output = new OutputFile(path, path, SHOWN_OUTPUT, { filter: redactor.stream() });
    let unwritten: string | undefined;
    const onOutput = (chunk: Uint8Array) => {
      try {
        output.write(chunk);
      } catch (error) {
        unwritten ??= errorMessage(error);
      }
    };
    const end = await runCommand({ ...common, command, onOutput });
    const { text } = output.finish();
    common.signal.throwIfAborted();
    const why = lost() ?? unwritten ?? setupFault(end);
    if (why !== undefined) throw setupFailed(command, why, text);
  }
}

/** Undefined if it succeeded. */
function setupFault(end: CommandEnd): string | undefined {
  if (end.type === 'not_started') return end.message;
  if (end.stopped !== undefined) return `it was stopped (${end.stopped})`;
  if (end.exitCode === 0) return undefined;
  return end.exitCode === null ? `it was killed by ${end.signal}` : `exit code ${end.exitCode}`;
}

function setupFailed(command: string, why: string, text: string): Problem {
  const said = oneLine(text.trim().split('\n').slice(-3).join(' '), 300);
  const message = `the setup command \`${oneLine(command, 200)}\` failed: ${why}${said ? `: ${said}` : ''}`;
  return new Problem('tool_infra_error', 'setup', message);
}
