import { afterEach } from '@jest/globals';
import type { CliOptions, CliResult } from './run-cli.js';

type Here = Required<Pick<CliOptions, 'env' | 'cwd'>> &
  CliOptions & {
    /** Fires when it gets a SIGTERM. */
    readonly stop?: AbortSignal;
  };

/** See beside.mjs. */
declare const bosunBeside: (args: readonly string[], options: Here) => Promise<CliResult>;

let isShared = false;

/** What still runs here. A test that fails or is out of time must not leave it to the next one, or to the next suite. */
const running = new Map<Promise<unknown>, AbortController>();
afterEach(async () => {
  for (const stop of running.values()) stop.abort();
  await Promise.allSettled(running.keys());
}, 30_000);

/**
 * For suites that ask what a command line prints, writes and sends, and not what its process is like: all of them
 * run in one process, at a tenth of the cost. The soak tier gives each command line a process of its own.
 */
export function shareProcess(): void {
  isShared = process.env['BOSUN_TEST_TIER'] !== 'soak';
}

/** Runs a command line in the shared process if the suite has one, and nothing is asked for that needs another one. */
export function hereIfShared(args: readonly string[], options: Here): Promise<CliResult> | undefined {
  const needsProcess = options.ownProcess || options.openStdin || options.bin || options.launcher;
  if (!isShared || needsProcess || Object.keys(options.env).some((name) => name.startsWith('NODE_')))
    return undefined;
  const stop = new AbortController();
  const signals = [stop.signal, ...(options.stop ? [options.stop] : [])];
  const done = bosunBeside(args, { ...options, stop: AbortSignal.any(signals) });
  running.set(done, stop);
  const forget = () => running.delete(done);
  done.then(forget, forget);
  return done;
}
