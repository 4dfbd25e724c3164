import { randomBytes } from 'node:crypto';
import { accessSync, constants as access } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';
import { errorCode, errorMessage } from '../lib/errors.js';
import type { StartedProcess } from '../lib/run-program.js';
import type { CommandEnd, CommandRequest, Launch, Launcher, RunCommand } from '../protocol/process.js';
import { sandboxReport, type SandboxReport } from './sandbox-report.js';
import { liveGroups } from './groups.js';
import { Drain } from './drain.js';
import { ABORT_GRACE_MS, endLeftovers, killTree } from './kill-tree.js';
import { spawnLaunch } from './spawn-launch.js';

/** Node treats longer times as none at all. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Runs a command in its own process group, without a terminal and with empty stdin unless it gets input. It ends when
 * its shell ends; what the shell left behind is killed, and a pipe that an orphan holds open is closed.
 */
export const runCommand: RunCommand = (request) => runSupervised(request, undefined);

/** Runs commands inside a sandbox. */
export function sandboxedCommands(launcher: Launcher): RunCommand {
  return async (request) => {
    const end = await runSupervised(request, launcher);
    await launcher.ended();
    return end;
  };
}

async function runSupervised(request: CommandRequest, launcher: Launcher | undefined): Promise<CommandEnd> {
  const marker = randomBytes(8).toString('hex');
  const { directory, environment } = request;
  const plain = { program: programOf(request), directory, environment };
  let started: StartedProcess;
  try {
    const launch = await launcher?.command(plain.program, directory, environment);
    started = await startCommand(launch ?? plain, request, marker, launch !== undefined);
  } catch (error) {
    const message = errorMessage(error);
    // A command line that is too long is not the sandbox's error.
    if (errorCode(error) !== 'E2BIG') launcher?.lost(`the sandbox could not be set up: ${message}`);
    return { type: 'not_started', message };
  }
  return supervise(started, request, marker, launcher && sandboxReport(started.child, launcher));
}

function startCommand(
  launch: Launch,
  { input }: CommandRequest,
  marker: string,
  isSandboxed: boolean,
): Promise<StartedProcess> {
  const streams = [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'] as const;
  return spawnLaunch(launch, marker, [...streams, ...(isSandboxed ? ['pipe' as const] : [])]);
}

function programOf({ command, environment }: CommandRequest): readonly string[] {
  if (typeof command !== 'string') return command;
  // On the line of the command itself, so that line numbers in the shell's messages are right.
  return [shellProgram(environment['PATH']), '-c', `exec 2>&1; ${command}`];
}

async function supervise(
  { child, pid, exited, closed }: StartedProcess,
  request: CommandRequest,
  marker: string,
  sandbox: SandboxReport | undefined,
): Promise<CommandEnd> {
  liveGroups.set(pid, marker);
  const stopping = new Stopping(pid, marker, sandbox !== undefined);
  const onAbort = () => stopping.stop('aborted');
  if (request.signal.aborted) onAbort();
  else request.signal.addEventListener('abort', onAbort, { once: true });
  const total = timer(() => stopping.stop('timeout'), request.timeoutMs);
  const idle = timer(() => stopping.stop('idle_timeout'), request.idleTimeoutMs);
  const drain = new Drain();
  const listener = (onOutput: CommandRequest['onOutput']) => (chunk: Buffer) => {
    idle.refresh();
    drain.heard();
    onOutput(chunk);
  };
  child.stdout?.on('data', listener(request.onOutput));
  child.stderr?.on('data', listener(request.onErrorOutput ?? request.onOutput));
  // A program that does not read all its input has closed it.
  child.stdin?.on('error', () => {});
  child.stdin?.end(request.input);

  const { code: exitCode, signal } = await exited;
  clearTimeout(total);
  request.signal.removeEventListener('abort', onAbort);
  const stopped = await stopping.over();
  // With a sandbox everything in it ends.
  const found = stopped || sandbox ? [] : await endLeftovers(pid, marker);
  await Promise.race([closed, drain.over()]);
  drain.stop();
  clearTimeout(idle);
  for (const stream of child.stdio) stream?.destroy();
  liveGroups.delete(pid);
  const end = { type: 'ended', exitCode, signal, leftovers: found, ...(stopped && { stopped }) } as const;
  return sandbox ? endIn(sandbox, end, request) : end;
}

type Stop = NonNullable<Extract<CommandEnd, { type: 'ended' }>['stopped']>;

/** How a command is stopped before it ends by itself: only the first stop counts. */
class Stopping {
  readonly #kill: (why: Stop) => Promise<unknown>;
  #stopped: Stop | undefined;
  #killed: Promise<unknown> | undefined;
  #isOver = false;

  constructor(pid: number, marker: string, isSandbox: boolean) {
    this.#kill = (why) =>
      killTree(pid, marker, { ...(why === 'aborted' && { graceMs: ABORT_GRACE_MS }), isSandbox });
  }

  stop(why: Stop): void {
    if (this.#isOver) return;
    this.#stopped ??= why;
    this.#killed ??= this.#kill(why);
  }

  /** The command has ended: nothing can stop it any more. Returns what did. */
  async over(): Promise<Stop | undefined> {
    this.#isOver = true;
    await this.#killed;
    return this.#stopped;
  }
}

function timer(fire: () => void, ms: number): NodeJS.Timeout {
  return setTimeout(fire, Math.min(ms, LONGEST_TIMER_MS));
}

/** What only a sandbox knows about the end of a command. */
function endIn(
  sandbox: SandboxReport,
  end: Extract<CommandEnd, { type: 'ended' }>,
  request: CommandRequest,
): CommandEnd {
  const lost = end.stopped ? undefined : sandbox.fault();
  if (lost !== undefined) return { type: 'not_started', message: lost };
  if (sandbox.isMissing()) return { type: 'not_started', message: `spawn ${programOf(request)[0]} ENOENT` };
  const leftovers = end.stopped ? [] : sandbox.leftovers();
  const isPlain = typeof request.command === 'string' && !sandbox.isKilled();
  return { ...end, ...(isPlain ? {} : exitOf(end.exitCode)), leftovers };
}

/** Only the exit code of a sandbox shows which signal has killed what is in it. */
function exitOf(code: number | null): { exitCode: number | null; signal: string | null } {
  const signals = Object.entries(constants.signals);
  const signal = signals.find(([, number]) => code === 128 + number)?.[0];
  return signal === undefined ? { exitCode: code, signal: null } : { exitCode: null, signal };
}

const shells = new Map<string | undefined, string>();

/** bash where it is installed, else sh. */
export function shellProgram(searchPath: string | undefined): string {
  let shell = shells.get(searchPath);
  if (shell === undefined) {
    const folders = (searchPath ?? '').split(delimiter).filter(Boolean);
    shell = folders.map((folder) => join(folder, 'bash')).find(isExecutable) ?? '/bin/sh';
    shells.set(searchPath, shell);
  }
  return shell;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, access.X_OK);
    return true;
  } catch {
    return false;
  }
}
