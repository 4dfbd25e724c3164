import { spawn, type ChildProcess } from 'node:child_process';
import { runCommand } from '../../src/sandbox/local.js';
import type { CommandEnd, CommandRequest } from '../../src/protocol/process.js';

type Ended = Extract<CommandEnd, { type: 'ended' }>;

export interface Ran extends Ended {
  readonly output: string;
  readonly bytes: Buffer;
  readonly ms: number;
}

/** Runs a command line for real, with limits that are far away unless given. */
export async function run(command: string, options: Partial<CommandRequest> = {}): Promise<Ran> {
  const chunks: Uint8Array[] = [];
  const started = performance.now();
  const end = await runCommand({
    command,
    directory: '/',
    environment: { PATH: process.env['PATH'] ?? '' },
    timeoutMs: 20_000,
    idleTimeoutMs: 20_000,
    signal: new AbortController().signal,
    onOutput: (chunk) => chunks.push(chunk),
    ...options,
  });
  if (end.type !== 'ended') throw new Error(end.message);
  const bytes = Buffer.concat(chunks);
  return { ...end, bytes, output: bytes.toString('utf8'), ms: performance.now() - started };
}

/** Ends a process by its id, if it is still there. */
export function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone already.
  }
}

/** Frees whoever waits for a writer of a FIFO after some seconds, so that a test fails instead of hanging. */
export function freeReaderLater(fifo: string, seconds: number): ChildProcess {
  const script = `setTimeout(() => require('fs').openSync(process.argv[1], 'r+'), ${seconds * 1000})`;
  return spawn(process.execPath, ['-e', script, fifo], { stdio: 'ignore' });
}
