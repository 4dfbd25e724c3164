import { statSync } from 'node:fs';
import { relative } from 'node:path';
import { formatDuration } from '../../lib/duration.js';
import { checkUnmoved } from '../../lib/real-path.js';
import { sentence } from '../../lib/text.js';
import type { CommandEnd, RunCommand } from '../../protocol/process.js';
import type { Risk } from '../../protocol/risk.js';
import type { ExecuteContext, ProcessEnd, Tool, ToolReport } from '../../protocol/tool.js';
import { defineTool } from '../define.js';
import { failedReport, fsError } from '../files/fs-error.js';
import { calledPath } from '../files/shown-path.js';
import { unattended } from '../unattended.js';
import { commandOutput, type StoredOutput } from '../command-output.js';

export interface ShellSettings {
  readonly workspace: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly runCommand: RunCommand;
  /** What the shell gets for a command line that may run; undefined if unknown. */
  readonly shellText: (line: string) => Promise<string | undefined>;
  /** The names of the programs that a command line runs. */
  readonly rootCommands: (line: string) => Promise<readonly string[]>;
  /** The worst that a line may do; unknown without it. */
  readonly shellRisk?: (line: string) => Promise<Risk>;
}

interface Request {
  readonly command: string;
  readonly directory?: string;
}

export function runShellCommandTool(settings: ShellSettings): Tool {
  return defineTool(settings.workspace, {
    name: 'run_shell_command',
    displayName: 'Shell',
    kind: 'execute',
    traits: { commandIn: 'command' },
    description:
      'Runs a command line with bash -c, without a terminal and with empty stdin. Returns its output and exit code. What it leaves in the background is killed when it ends.',
    schema: {
      type: 'object',
      properties: {
        command: { type: 'string', minLength: 1, description: 'The command line.' },
        description: { type: 'string', description: 'What it is for, in a few words.' },
        directory: { type: 'string', minLength: 1, description: 'Where to run it (the workspace).' },
      },
      required: ['command'],
      additionalProperties: false,
    },
    check: ({ command }) => {
      if (command.trim() === '') return '`command` is blank';
      return command.includes('\0') ? '`command` contains a NUL character' : undefined;
    },
    paths: ({ directory }) => [{ path: directory ?? '.', access: 'read' }],
    describe: ({ command, directory }) => `Run ${command.trim()}${placeNote(settings.workspace, directory)}`,
    confirmation: async ({ command, directory }) => ({
      type: 'exec',
      command,
      directory: directory ?? '.',
      root_commands: await settings.rootCommands(command),
      risk: (await settings.shellRisk?.(command)) ?? 'unknown',
    }),
    execute: (request, directory, context) => runShell(settings, request, directory, context),
  });
}

/** Where a command runs, if not in the workspace itself. */
function placeNote(workspace: string, directory = '.'): string {
  const folder = calledPath(workspace, directory);
  return folder === 'the workspace' ? '' : ` (in ${folder})`;
}

async function runShell(
  settings: ShellSettings,
  request: Request,
  directory: string,
  context: ExecuteContext,
): Promise<ToolReport> {
  const shown = relative(settings.workspace, directory) || '.';
  if (!isDirectory(directory)) {
    return failedReport('file_not_found', `${shown} is not a directory.`);
  }
  const text = await settings.shellText(request.command);
  if (text === undefined) return failedReport('shell_execute_error', 'The command cannot be understood.');
  const output = commandOutput(context);
  const end = await settings.runCommand({
    command: text,
    directory,
    environment: unattended(settings.environment),
    timeoutMs: settings.timeoutMs,
    idleTimeoutMs: settings.idleTimeoutMs,
    signal: output.signal,
    onOutput: output.push,
  });
  if (end.type === 'not_started') {
    return failedReport('shell_execute_error', `The command could not be started: ${sentence(end.message)}`);
  }
  const stored = output.finish();
  if ('lost' in stored) {
    const error = fsError(stored.lost, "The command's output could not be stored", 'execution_failed');
    return { ok: false, error };
  }
  return report(settings, request.command, shown, end, stored);
}

type Ended = Extract<CommandEnd, { type: 'ended' }>;

function report(
  settings: ShellSettings,
  command: string,
  shown: string,
  end: Ended,
  output: StoredOutput,
): ToolReport {
  const facts = [`Command: ${command}`, `Directory: ${shown}`];
  if (end.exitCode !== null) facts.push(`Exit Code: ${end.exitCode}`);
  if (end.signal) facts.push(`Signal: ${end.signal}`);
  if (end.leftovers.length > 0) facts.push(`Left running, killed: ${end.leftovers.join(', ')}`);
  const text = `${facts.join('\n')}\nOutput:\n${output.text || '(empty)'}`;
  const timedOut = end.stopped === 'timeout' || end.stopped === 'idle_timeout';
  const process: ProcessEnd = {
    exit_code: end.exitCode,
    signal: end.signal,
    ...(timedOut && { timed_out: true }),
    ...(end.leftovers.length > 0 && { leftover_pids: end.leftovers }),
  };
  const extras = { process, ...(output.path !== undefined && { full_output: output.path }) };
  switch (end.stopped) {
    case undefined:
      return { ok: true, content: text, ...extras };
    case 'aborted':
      return {
        ok: false,
        error: { type: 'cancelled', message: `Cancelled while it ran.\n${text}` },
        ...extras,
      };
    case 'timeout': {
      const message = `Killed after ${formatDuration(settings.timeoutMs)}.\n${text}`;
      return { ok: false, error: { type: 'timeout', message }, ...extras };
    }
    case 'idle_timeout': {
      const message = `Killed after ${formatDuration(settings.idleTimeoutMs)} without output.\n${text}`;
      return { ok: false, error: { type: 'timeout', message }, ...extras };
    }
    default:
      return end.stopped satisfies never;
  }
}

function isDirectory(path: string): boolean {
  try {
    checkUnmoved(path);
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
