import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
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

/** Whether a process still runs; one that nobody has reaped yet does not. */
export function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}

/** Waits until something is so; throws if it is not in time. */
export async function until(condition: () => boolean, what: string, limitMs = 5000): Promise<void> {
  for (const start = performance.now(); !condition();) {
    if (performance.now() - start > limitMs) throw new Error(`not within ${limitMs} ms: ${what}`);
    await wait(10);
  }
}

/** Ends a process by its id, if it is still there. */
export function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone already.
  }
}
