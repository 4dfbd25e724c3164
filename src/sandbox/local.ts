import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { errorMessage } from '../lib/errors.js';
import type { CommandEnd, CommandRequest, ProgramRequest } from '../protocol/process.js';
import { ABORT_GRACE_MS, endLeftovers, killTree, signalProcess } from './kill-tree.js';
import { MARKER, membersOf } from './leftovers.js';

/** Silence after which a pipe counts as drained, once everyone known to write to it is gone. */
const DRAIN_MS = 200;
/** A pipe into which somebody beyond our reach keeps writing is closed after this. */
const DRAIN_LIMIT_MS = 1000;
/** Node takes longer times for none at all. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Leaders of the process groups that are alive now, and their markers. */
const leaders = new Map<number, string>();

/**
 * Runs a command line in a process group of its own, without a terminal and with empty stdin. It ends when its
 * shell ends; what the shell left behind is killed. Node's own spawn, because the usual wrapper waits for ever
 * on a pipe that an orphan holds open, and costs more to load than most commands take to run.
 */
export async function runCommand(request: CommandRequest): Promise<CommandEnd> {
  // On the line of the command itself, so that line numbers in the shell's messages are right.
  const script = `exec 2>&1; ${request.command}`;
  const { onOutput } = request;
  return runChild([shellOf(request.environment['PATH']), '-c', script], {
    ...request,
    onStdout: onOutput,
    onStderr: onOutput,
  });
}

/** Runs a program that the user named, without a shell: it gets its input, and what it says is kept apart. */
export function runProgram(request: ProgramRequest): Promise<CommandEnd> {
  return runChild(request.command, { ...request, idleTimeoutMs: LONGEST_TIMER_MS });
}

type ChildRequest = Omit<ProgramRequest, 'command' | 'input'> &
  Pick<CommandRequest, 'idleTimeoutMs'> & { readonly input?: string };

async function runChild(command: readonly string[], request: ChildRequest): Promise<CommandEnd> {
  const marker = randomBytes(8).toString('hex');
  const child = start(command, request, marker);
  if (child instanceof Error) return { type: 'not_started', message: errorMessage(child) };
  const started = await new Promise<Error | undefined>((resolve) => {
    child.once('spawn', () => resolve(undefined));
    child.once('error', resolve);
  });
  if (started) return { type: 'not_started', message: errorMessage(started) };
  return supervise(child, request, marker);
}

function start([file = '', ...args]: readonly string[], request: ChildRequest, marker: string) {
  try {
    return spawn(file, args, {
      cwd: request.directory,
      env: { ...request.environment, [MARKER]: marker },
      stdio: [request.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      detached: true,
    });
  } catch (error) {
    return error as Error;
  }
}

async function supervise(child: ChildProcess, request: ChildRequest, marker: string): Promise<CommandEnd> {
  const pid = child.pid as number;
  leaders.set(pid, marker);
  const exited = new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    child.once('exit', (code, signal) => resolve([code, signal]));
  });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));

  let stopped: 'timeout' | 'idle_timeout' | 'aborted' | undefined;
  let killed: Promise<unknown> | undefined;
  let ended = false;
  const stop = (why: NonNullable<typeof stopped>) => {
    if (ended) return;
    stopped ??= why;
    killed ??= killTree(pid, marker, why === 'aborted' ? ABORT_GRACE_MS : undefined);
  };
  const onAbort = () => stop('aborted');
  if (request.signal.aborted) onAbort();
  else request.signal.addEventListener('abort', onAbort, { once: true });

  const total = setTimeout(stop, Math.min(request.timeoutMs, LONGEST_TIMER_MS), 'timeout');
  const idle = setTimeout(stop, Math.min(request.idleTimeoutMs, LONGEST_TIMER_MS), 'idle_timeout');
  let drain: NodeJS.Timeout | undefined;
  let drainLimit: NodeJS.Timeout | undefined;
  const listen = (pass: (chunk: Buffer) => void) => (chunk: Buffer) => {
    idle.refresh();
    drain?.refresh();
    pass(chunk);
  };
  child.stdout?.on('data', listen(request.onStdout));
  child.stderr?.on('data', listen(request.onStderr));
  // Whoever does not read its input to the end has closed it.
  child.stdin?.on('error', () => {});
  child.stdin?.end(request.input);

  const [exitCode, signal] = await exited;
  ended = true;
  clearTimeout(total);
  request.signal.removeEventListener('abort', onAbort);
  await killed;
  const leftovers = stopped ? [] : await endLeftovers(pid, marker);
  const drained = new Promise<void>((resolve) => {
    drain = setTimeout(resolve, DRAIN_MS);
    drainLimit = setTimeout(resolve, DRAIN_LIMIT_MS);
  });
  await Promise.race([closed, drained]);
  clearTimeout(drain);
  clearTimeout(drainLimit);
  clearTimeout(idle);
  child.stdout?.destroy();
  child.stderr?.destroy();
  leaders.delete(pid);
  return { type: 'ended', exitCode, signal, leftovers, ...(stopped && { stopped }) };
}

const shells = new Map<string | undefined, string>();

/** bash where it is installed, else sh. */
function shellOf(searchPath: string | undefined): string {
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
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The last resort of a process that must be gone at once: no waiting, no mercy. */
export function killAllCommands(): void {
  for (const [leader, marker] of leaders) {
    for (const pid of [-leader, ...(membersOf(leader, marker) ?? [])]) signalProcess(pid, 'SIGKILL');
  }
}
