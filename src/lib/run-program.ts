import type { ChildProcess, StdioOptions } from 'node:child_process';
import { errorMessage } from './errors.js';

export interface StartRequest {
  /** A file and its arguments. No shell is involved. */
  readonly program: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Its descriptors, in order; a number is one of ours. */
  readonly stdio: readonly ('ignore' | 'pipe' | 'inherit' | 'ipc' | number)[];
  /** Makes it the leader of a process group, so that all that it starts can be ended. */
  readonly detached?: boolean;
}

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A running process. Read its pipes in the same turn of the event loop: output without a listener is lost. */
export interface StartedProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly exited: Promise<ProcessExit>;
  /** It has ended, and no process holds its pipes open. An orphan may do that for ever. */
  readonly closed: Promise<ProcessExit>;
}

/**
 * Starts a process, or rejects with Node's own error. The caller sets its limits and ends it. Uses Node's own spawn:
 * every command of a run is started here, and execa would add as much time as a short one takes (1.3 to 1.9 ms).
 */
export async function startProcess(request: StartRequest): Promise<StartedProcess> {
  const { program, directory, environment, stdio, detached = false } = request;
  // Most runs start no process before their first request.
  const { spawn } = await import('node:child_process');
  const [file = '', ...args] = program;
  const child = spawn(file, args, {
    cwd: directory,
    env: environment,
    stdio: [...stdio] as StdioOptions,
    detached,
  });
  const failed = new Promise<Error>((resolve) => child.on('error', resolve));
  if (child.pid === undefined) throw await failed;
  return started(child, child.pid);
}

/** Starts it with execa, whose timeouts and promise wait for ever on a pipe that an orphan holds open. */
async function startByExeca(request: StartRequest): Promise<StartedProcess> {
  const { program, directory, environment, stdio, detached = false } = request;
  const { execa } = await import('./run-program-execa.js');
  const [file = '', ...args] = program;
  const promised = execa(file, args, {
    cwd: directory,
    env: environment,
    extendEnv: false,
    // Typed for literals only.
    stdio: [...stdio] as ['pipe', 'pipe', 'pipe'],
    detached,
    buffer: false,
    reject: false,
    cleanup: false,
    serialization: 'json',
    verbose: 'none',
  });
  const child = promised as unknown as ChildProcess;
  // Its end is reported, whatever goes wrong later.
  child.on('error', () => {});
  if (child.pid === undefined) throw (await promised).cause as Error;
  return started(child, child.pid);
}

/** execa's child is also a promise, so it is wrapped: a function that returned it would wait for its end. */
function started(child: ChildProcess, pid: number): StartedProcess {
  const on = (event: 'exit' | 'close') =>
    new Promise<ProcessExit>((resolve) => {
      child.once(event, (code, signal) => resolve({ code, signal }));
    });
  return { child, pid, exited: on('exit'), closed: on('close') };
}

export interface ProgramRequest {
  readonly file: string;
  readonly args: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly input?: Buffer;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export type ProgramEnd =
  | { readonly type: 'ended'; readonly code: number; readonly stdout: Buffer; readonly stderr: string }
  | { readonly type: 'failed'; readonly message: string };

const MAX_STDERR = 4000;

const running = new Set<ChildProcess>();

/** For a process that has to leave at once: nothing else would end them. */
export function killPrograms(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** Runs a program of our own choice, and collects its output. */
export async function runProgram(request: ProgramRequest): Promise<ProgramEnd> {
  const { file, args, directory, environment, signal } = request;
  if (signal.aborted) return { type: 'failed', message: 'cancelled' };
  try {
    const program = [file, ...args];
    const stdio = ['pipe', 'pipe', 'pipe'] as const;
    return await collectOutput(await startByExeca({ program, directory, environment, stdio }), request);
  } catch (error) {
    return { type: 'failed', message: errorMessage(error) };
  }
}

function collectOutput({ child, closed }: StartedProcess, request: ProgramRequest): Promise<ProgramEnd> {
  const { input, timeoutMs, maxBytes, signal } = request;
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    let size = 0;
    let stderr = '';
    running.add(child);
    const end = (ending: ProgramEnd) => {
      running.delete(child);
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      child.kill('SIGKILL');
      // A process that it started may hold them open, and so block us.
      for (const stream of child.stdio) stream?.destroy();
      resolve(ending);
    };
    const fail = (message: string) => end({ type: 'failed', message });
    const abort = () => fail('cancelled');
    const timer = setTimeout(() => fail(`it did not end within ${timeoutMs / 1000} s`), timeoutMs);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    child.stdout?.on('data', (piece: Buffer) => {
      pieces.push(piece);
      size += piece.length;
      if (size > maxBytes) fail(`more than ${maxBytes} bytes of output`);
    });
    child.stderr?.on('data', (piece: Buffer) => {
      if (stderr.length < MAX_STDERR) stderr += piece.toString('utf8');
    });
    void closed.then(({ code }) => {
      if (code === null) fail('it was killed');
      else end({ type: 'ended', code, stdout: Buffer.concat(pieces), stderr });
    });
    // A program that does not read all its input closes it.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}
