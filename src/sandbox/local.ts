import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { errorMessage } from '../lib/errors.js';
import type { CommandEnd, CommandRequest } from '../protocol/process.js';
import { groups } from './groups.js';
import { ABORT_GRACE_MS, endLeftovers, killTree } from './kill-tree.js';
import { MARKER } from './leftovers.js';

/** Silence after which a pipe counts as drained, once everyone known to write to it is gone. */
const DRAIN_MS = 200;
/** A pipe into which somebody beyond our reach keeps writing is closed after this. */
const DRAIN_LIMIT_MS = 1000;
/** Node takes longer times for none at all. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Runs a command in a process group of its own, without a terminal and with empty stdin unless it is given some. It ends when its
 * shell ends; what the shell left behind is killed. Node's own spawn, because the usual wrapper waits for ever
 * on a pipe that an orphan holds open, and costs more to load than most commands take to run.
 */
export async function runCommand(request: CommandRequest): Promise<CommandEnd> {
  const marker = randomBytes(8).toString('hex');
  const child = start(request, marker);
  if (child instanceof Error) return { type: 'not_started', message: errorMessage(child) };
  const started = await new Promise<Error | undefined>((resolve) => {
    child.once('spawn', () => resolve(undefined));
    child.once('error', resolve);
  });
  if (started) return { type: 'not_started', message: errorMessage(started) };
  return supervise(child, request, marker);
}

function start(request: CommandRequest, marker: string): ChildProcess | Error {
  const [file = '', ...args] = programOf(request);
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

function programOf({ command, environment }: CommandRequest): readonly string[] {
  if (typeof command !== 'string') return command;
  // On the line of the command itself, so that line numbers in the shell's messages are right.
  return [shellOf(environment['PATH']), '-c', `exec 2>&1; ${command}`];
}

async function supervise(child: ChildProcess, request: CommandRequest, marker: string): Promise<CommandEnd> {
  const pid = child.pid as number;
  groups.set(pid, marker);
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
  const listener = (onOutput: CommandRequest['onOutput']) => (chunk: Buffer) => {
    idle.refresh();
    drain?.refresh();
    onOutput(chunk);
  };
  child.stdout?.on('data', listener(request.onOutput));
  child.stderr?.on('data', listener(request.onErrorOutput ?? request.onOutput));
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
  groups.delete(pid);
  return { type: 'ended', exitCode, signal, leftovers, ...(stopped && { stopped }) };
}

const shells = new Map<string | undefined, string>();

/** bash where it is installed, else sh. */
export function shellOf(searchPath: string | undefined): string {
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
