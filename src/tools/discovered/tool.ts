import { formatDuration } from '../../lib/duration.js';
import { cleanText } from '../../lib/text.js';
import { tailOf } from '../../lib/truncate.js';
import type { CommandEnd } from '../../protocol/process.js';
import { DISCOVERED } from '../../protocol/source.js';
import type { ToolErrorType } from '../../protocol/tool-error.js';
import type { ExecuteContext, Tool, ToolReport } from '../../protocol/tool.js';
import { fsError } from '../files/fs-error.js';
import { foreignTool } from '../foreign-tool.js';
import type { Declaration, DiscoverySettings } from './list.js';
import { commandOutput, type StoredOutput } from '../command-output.js';

const MAX_DESCRIPTION = 8000;
/** How much of stderr is kept: its end. */
const MAX_STDERR = 10_000;

/** A tool that the user's command runs: its name is the last argument, its parameters go to stdin. */
export function discoveredTool(settings: DiscoverySettings, declaration: Declaration): Tool {
  const { name, parameters } = declaration;
  const command = [...settings.call, name];
  const shown = command
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word)))
    .join(' ');
  const own = cleanText(declaration.description).trim().slice(0, MAX_DESCRIPTION);
  const how = `Runs \`${shown}\` in the workspace with the parameters as JSON on its stdin, and returns what it prints. An exit code other than 0, or anything on stderr, is a failure.`;
  return foreignTool({
    name: `${DISCOVERED}${name}`,
    displayName: name,
    kind: settings.isReadOnly(name) ? 'read' : 'other',
    description: own ? `${own}\n\n${how}` : how,
    parameters,
    title: `${name} (discovered tool)`,
    confirmation: { type: 'info', description: shown },
    execute: (params, context) => runTool(settings, command, JSON.stringify(params), context),
  });
}

async function runTool(
  settings: DiscoverySettings,
  command: readonly string[],
  input: string,
  context: ExecuteContext,
): Promise<ToolReport> {
  const { workspace, environment, timeoutMs, idleTimeoutMs } = settings;
  const output = commandOutput(context);
  let stderr = '';
  const end = await settings.runCommand({
    command,
    directory: workspace,
    environment,
    timeoutMs,
    idleTimeoutMs,
    input,
    signal: output.signal,
    onOutput: output.push,
    onErrorOutput: (chunk) => {
      stderr = tailOf(stderr + Buffer.from(chunk).toString('utf8'), MAX_STDERR);
    },
  });
  const stored = output.finish();
  if ('lost' in stored) {
    return {
      ok: false,
      error: fsError(stored.lost, "The tool's output could not be stored", 'execution_failed'),
    };
  }
  return report(settings, end, stored, cleanText(stderr).trim());
}

function report(
  settings: DiscoverySettings,
  end: CommandEnd,
  output: StoredOutput,
  stderr: string,
): ToolReport {
  const extras = output.path === undefined ? {} : { full_output: output.path };
  const failed = (type: ToolErrorType, why: string): ToolReport => {
    const { exitCode = null, signal = null } = end.type === 'ended' ? end : {};
    const lines = [
      `Stdout: ${output.text || '(empty)'}`,
      `Stderr: ${stderr || '(empty)'}`,
      `Error: ${why || '(none)'}`,
      `Exit Code: ${exitCode ?? '(none)'}`,
      `Signal: ${signal ?? '(none)'}`,
    ];
    const process = end.type === 'ended' ? { process: processOf(end) } : {};
    return { ok: false, error: { type, message: lines.join('\n') }, ...process, ...extras };
  };
  if (end.type === 'not_started') return failed('discovered_tool_execution_error', end.message);
  switch (end.stopped) {
    case undefined:
      return end.exitCode === 0 && stderr === ''
        ? { ok: true, content: output.text, process: processOf(end), ...extras }
        : failed('discovered_tool_execution_error', '');
    case 'aborted':
      return failed('cancelled', 'cancelled while it ran');
    case 'timeout':
      return failed('timeout', `killed after ${formatDuration(settings.timeoutMs)}`);
    case 'idle_timeout':
      return failed('timeout', `killed after ${formatDuration(settings.idleTimeoutMs)} without output`);
    default:
      return end.stopped satisfies never;
  }
}

function processOf(end: Extract<CommandEnd, { type: 'ended' }>) {
  const timedOut = end.stopped === 'timeout' || end.stopped === 'idle_timeout';
  return { exit_code: end.exitCode, signal: end.signal, ...(timedOut && { timed_out: true }) };
}
