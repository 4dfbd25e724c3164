import { afterEach } from '@jest/globals';
import type { QueueServer } from './queue-server.js';
import { runBatch, startBatch } from './batch.js';
import type { Server } from './served.js';
import { serverEnv, startCli, type CliResult, type Scratch, type StartedProgram } from './run-cli.js';

interface Url {
  readonly url: string;
}

const started: StartedProgram[] = [];
afterEach(async () => {
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
  const words = ['worker', '--queue', queue.url, '--repository', where.workspace, '--lock', '5s', ...args];
  const worker = startCli(words, { env: serverEnv(model, where, env), cwd: where.root });
  started.push(worker);
  return worker;
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
