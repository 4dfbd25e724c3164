import { tmpdir } from 'node:os';
import { afterEach } from '@jest/globals';
import type { QueueServer } from './queue-server.js';
import { runBatch, startBatch } from './batch.js';
import type { Server } from './served.js';
import { serverEnv, startCli, type CliResult, type Scratch, type StartedProgram } from './run-cli.js';
import { hereIfShared } from './this-process.js';

interface Url {
  readonly url: string;
}

/** A worker of which nobody asks what its process is like. */
export interface Employed {
  /** As SIGTERM does. */
  stop(): void;
  readonly done: Promise<CliResult>;
}

const started: StartedProgram[] = [];
const employed: Employed[] = [];
afterEach(async () => {
  for (const worker of employed) worker.stop();
  for (const { done } of employed.splice(0)) await done;
  for (const { child, done } of started.splice(0)) {
    child.kill('SIGKILL');
    await done;
  }
});

/** A worker that has the workspace as its repository. */
export function startWorker(
  queue: Url,
  model: Url,
  where: Scratch,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): StartedProgram {
  const worker = startCli(workerArgs(queue, where, args), {
    env: serverEnv(model, where, env),
    cwd: where.root,
  });
  started.push(worker);
  return worker;
}

/** The same in the process that the suite shares, if it does. */
export function employ(
  queue: Url,
  model: Url,
  where: Scratch,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Employed {
  const stop = new AbortController();
  const options = { env: serverEnv(model, where, env), cwd: tmpdir() };
  const here = hereIfShared(workerArgs(queue, where, args), { ...options, stop: stop.signal });
  const worker = here
    ? { stop: () => stop.abort(), done: here }
    : asEmployed(startWorker(queue, model, where, args, env));
  employed.push(worker);
  return worker;
}

function asEmployed({ child, done }: StartedProgram): Employed {
  return { stop: () => void child.kill('SIGTERM'), done };
}

function workerArgs(queue: Url, where: Scratch, args: readonly string[]): string[] {
  return ['worker', '--queue', queue.url, '--repository', where.workspace, '--lock', '5s', ...args];
}

/** `bosun batch run --queue`, to its end. */
export function coordinate(
  queue: Url,
  model: Server,
  where: Scratch,
  args: readonly string[],
): Promise<CliResult> {
  return runBatch(model, where, ['--queue', queue.url, ...args]);
}

export function startCoordinator(
  queue: Url,
  model: Server,
  where: Scratch,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): StartedProgram {
  const coordinator = startBatch(model, where, ['--queue', queue.url, ...args], env);
  started.push(coordinator);
  return coordinator;
}

export type { QueueServer };
