import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { queueAddress } from '../batch/queue/address.js';
import { runWorker } from '../batch/queue/worker.js';
import { realPath } from '../lib/real-path.js';
import { CANCEL_CODES } from '../protocol/outcome.js';
import { configProblem } from '../protocol/problem.js';
import { resolveWorkspace } from '../decisions/workspace.js';
import { publicKey } from '../transcript/signed-evidence.js';
import type { WorkerFlags } from './flags/worker.js';
import { hideQueue } from './hide-queue.js';
import { policiesIn } from './flags-to-request.js';
import type { Terminal } from './terminal.js';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** `bosun worker`: takes tasks until it is told to stop, and returns the exit code. */
export async function performWorker(flags: WorkerFlags, terminal: Terminal): Promise<number> {
  const { queue, repository = [], allowUrl = [], trustedKey = [], sandbox } = flags;
  if (queue === undefined)
    throw configProblem('queue', 'a worker needs a queue', {
      hint: 'Give --queue URL, or BOSUN_QUEUE, which process lists do not show.',
    });
  hideQueue(queue);
  const log = terminal.log(flags);
  const stop = stopSignal(log.warn);
  const end = await runWorker({
    address: queueAddress(queue),
    concurrency: flags.concurrency,
    untilEmpty: flags.untilEmpty ?? false,
    ceiling: policiesIn(flags, terminal),
    folder: terminal.cwd,
    trustedKeys: trustedKey.map((key) => publicKey(key, terminal.cwd)),
    repositories: repository.map((folder) => repositoryAt(resolve(terminal.cwd, folder))),
    allowUrls: allowUrl,
    sandbox,
    graceMs: flags.grace,
    lockMs: flags.lock,
    root: realPath(mkdtempSync(join(tmpdir(), 'bosun-worker-'))),
    variables: terminal.variables,
    log: log.debug,
    tell: log.info,
    signal: stop.signal,
  });
  await log.flush();
  return end === 'handed_back' ? stop.exitCode() : 0;
}

function repositoryAt(folder: string): string {
  try {
    return resolveWorkspace(folder);
  } catch (error) {
    throw configProblem('repository', `--repository ${folder} does not exist, or is not a folder`, {
      hint: 'Give the folder of a git repository.',
      cause: error,
    });
  }
}

function stopSignal(warn: (line: string) => void) {
  const controller = new AbortController();
  let first: (typeof SIGNALS)[number] | undefined;
  for (const signal of SIGNALS)
    process.on(signal, () => {
      // A second signal ends it at once: running tasks go to other workers when their locks expire.
      if (first) process.exit(CANCEL_CODES[signal]);
      first = signal;
      warn(`stopped by ${signal}; a second signal exits at once`);
      controller.abort();
    });
  return { signal: controller.signal, exitCode: () => CANCEL_CODES[first ?? 'SIGTERM'] };
}
