import { formatDuration } from '../lib/duration.js';
import { errorMessage } from '../lib/errors.js';
import { fence } from '../lib/fence.js';
import { oneLine } from '../lib/text.js';
import type { Emit } from '../protocol/event.js';
import { Problem } from '../protocol/problem.js';
import type { CommandEnd, CommandRequest, RunCommand } from '../protocol/process.js';
import type { FilePlace, VerificationEvent } from '../protocol/success.js';
import type { OutputSink } from '../protocol/tool.js';
import type { Condition, Unmet } from './conditions.js';

/** How the user's own commands are run. */
export interface VerifySettings extends Pick<
  CommandRequest,
  'directory' | 'environment' | 'timeoutMs' | 'idleTimeoutMs' | 'signal'
> {
  readonly runCommand: RunCommand;
  /** Collects the output of a command; the name is unique in the run. */
  readonly openOutput: (name: string) => OutputSink;
  /** The places that an output names. */
  readonly placesIn: (output: string) => readonly FilePlace[];
  readonly onLive: (text: string) => void;
  readonly emit: Emit;
}

/** How much of each chunk is shown live. */
const LIVE_BYTES = 2000;

/** All commands must end with 0. Each is run, so that the model learns everything at once. */
export function verifyCondition(commands: readonly string[], settings: VerifySettings): Condition {
  return {
    async check(attempt) {
      const failed: VerificationEvent[] = [];
      for (const [i, command] of commands.entries()) {
        if (settings.signal.aborted) break;
        const event = await verify(command, attempt, `verify-${attempt}-${i + 1}`, settings);
        // A command that we ended ourselves has not failed; the run is over.
        if (settings.signal.aborted) break;
        settings.emit(event);
        if (!event.ok) failed.push(event);
      }
      if (settings.signal.aborted) return { reason: 'verify', message: 'stopped', explanation: '' };
      return failed.length > 0 ? unmet(failed, commands.length) : undefined;
    },
  };
}

function unmet(failed: readonly VerificationEvent[], all: number): Unmet {
  const each = failed.map(({ command = '', message }) => `\`${oneLine(command, 200)}\` ${message}`);
  const message = all > 1 ? `${failed.length} of ${all} verify commands failed: ${each.join('; ')}` : each[0];
  const outputs = failed.map(
    ({ command = '', output = '' }, i) =>
      `${each[i]}.\n${fence('output', oneLine(command, 200), output || '(empty)')}`,
  );
  return {
    reason: 'verify',
    message: message ?? '',
    explanation: `The user's own commands decide whether it is done.\n\n${outputs.join('\n\n')}`,
  };
}

async function verify(
  command: string,
  attempt: number,
  name: string,
  settings: VerifySettings,
): Promise<VerificationEvent> {
  const started = performance.now();
  const output = settings.openOutput(name);
  // Output that cannot be stored ends the command: nobody would know what else it said.
  const lost = new AbortController();
  const { directory, environment, timeoutMs, idleTimeoutMs } = settings;
  const end = await settings.runCommand({
    ...{ command, directory, environment, timeoutMs, idleTimeoutMs },
    signal: AbortSignal.any([settings.signal, lost.signal]),
    onOutput: (chunk) => {
      if (lost.signal.aborted) return;
      try {
        const shown = output.write(chunk);
        if (shown.length > 0) settings.onLive(Buffer.from(shown.subarray(-LIVE_BYTES)).toString('utf8'));
      } catch (error) {
        lost.abort(error);
      }
    },
  });
  const { text, path } = finished(output, lost.signal);
  const ok = end.type === 'ended' && end.exitCode === 0 && end.stopped === undefined;
  const places = ok ? [] : settings.placesIn(text);
  return {
    type: 'verification',
    condition: 'verify',
    ok,
    attempt,
    command,
    message: sentence(end, settings),
    ...processOf(end),
    output: text,
    ...(path !== undefined && { full_output: path }),
    ...(places.length > 0 && { places }),
    duration_ms: Math.round(performance.now() - started),
  };
}

function finished(output: OutputSink, lost: AbortSignal): ReturnType<OutputSink['finish']> {
  try {
    lost.throwIfAborted();
    return output.finish();
  } catch (error) {
    const why = `the output of a verify command could not be stored: ${errorMessage(error)}`;
    throw new Problem('tool_infra_error', 'no_space_left', why, { cause: error });
  }
}

function processOf(end: CommandEnd): Pick<VerificationEvent, 'exit_code' | 'signal' | 'timed_out'> {
  if (end.type === 'not_started') return { exit_code: null, signal: null };
  const timedOut = end.stopped === 'timeout' || end.stopped === 'idle_timeout';
  return { exit_code: end.exitCode, signal: end.signal, ...(timedOut && { timed_out: true }) };
}

/** How a command ended, as the continuation of a sentence. */
function sentence(end: CommandEnd, { timeoutMs, idleTimeoutMs }: VerifySettings): string {
  if (end.type === 'not_started') return `could not be started: ${end.message}`;
  if (end.stopped === 'timeout') return `was killed after ${formatDuration(timeoutMs)}`;
  if (end.stopped === 'idle_timeout')
    return `was killed after ${formatDuration(idleTimeoutMs)} without output`;
  if (end.exitCode === 0) return 'succeeded';
  return end.exitCode === null ? `was killed by ${end.signal}` : `failed with exit code ${end.exitCode}`;
}
