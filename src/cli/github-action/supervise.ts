import { constants } from 'node:os';
import { startProcess } from '../../lib/run-program.js';
import type { RunEnd, RunResult } from './outputs.js';
import type { Plan } from './plan.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

/** Runs Bosun in a process of its own, so that its end is reported in any case. */
export async function superviseRun(
  bosun: string,
  { command, args, environment }: Pick<Plan, 'command' | 'args' | 'environment'>,
): Promise<RunEnd> {
  const { child, closed } = await startProcess({
    program: [process.execPath, bosun, ...command, ...args],
    directory: process.cwd(),
    environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // When a job is cancelled, the runner signals this process.
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  const pieces: Buffer[] = [];
  child.stdout?.on('data', (piece: Buffer) => pieces.push(piece));
  const { code, signal } = await closed;
  const exitCode = code ?? 128 + (signal ? constants.signals[signal] : 0);
  return { result: parseResult(Buffer.concat(pieces).toString('utf8')), exitCode };
}

function parseResult(text: string): RunResult | undefined {
  try {
    return JSON.parse(text) as RunResult;
  } catch {
    return undefined;
  }
}
