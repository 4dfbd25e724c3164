import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { StartedProcess } from '../lib/run-program.js';
import type { Launch, Launcher, RunningServer, ServerRequest, StartServer } from '../protocol/process.js';
import { liveGroups } from './groups.js';
import { killTree } from './kill-tree.js';
import { spawnLaunch } from './spawn-launch.js';
import { unwatchGroup, watchGroup } from './watchdog.js';

/** How long a server has to end by itself once its stdin is closed. */
const PATIENCE_MS = 500;

/** Starts programs that keep running, each in its own process group, and in a sandbox if there is one. */
export function serverStarter(launcher: Launcher | undefined): StartServer {
  return async (request) => {
    const { command, directory, environment } = request;
    const launch = await launcher?.server(command, directory, environment);
    return startServer(request, launch ?? { program: command, directory, environment }, launch !== undefined);
  };
}

async function startServer(
  request: ServerRequest,
  launch: Launch,
  isSandbox: boolean,
): Promise<RunningServer> {
  const marker = randomBytes(8).toString('hex');
  const started = await spawnLaunch(launch, marker, ['pipe', 'pipe', 'pipe']);
  return supervise(started, request, { marker, isSandbox });
}

function supervise(
  { child, pid: leader, exited, closed }: StartedProcess,
  request: ServerRequest,
  { marker, isSandbox }: { readonly marker: string; readonly isSandbox: boolean },
): RunningServer {
  const { stdin, stdout, stderr } = child as ChildProcessWithoutNullStreams;
  // A server that has ended reads nothing any more; its end is reported elsewhere.
  stdin.on('error', () => {});
  liveGroups.set(leader, marker);
  watchGroup(leader, marker);
  readFairly(stdout, request.onOutput);
  readFairly(stderr, request.onErrorOutput);
  let drained: Promise<unknown> | undefined;
  let cleaned: Promise<void> | undefined;
  const ended = exited.then(async ({ code, signal }) => {
    // What it has started must not stay behind, and may hold its pipes open.
    cleaned ??= clean();
    // Its last words may still be in the pipe.
    await Promise.race([closed, wait(PATIENCE_MS)]);
    stdout.destroy();
    stderr.destroy();
    request.onEnd(signal ? `killed by ${signal}` : `exit code ${code}`);
  });

  async function clean(): Promise<void> {
    await killTree(leader, marker, { isSandbox });
    liveGroups.delete(leader);
    unwatchGroup(leader);
  }

  return {
    async write(text) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      if (stdin.write(text)) return;
      drained ??= once(stdin, 'drain')
        .catch(() => {})
        .finally(() => (drained = undefined));
      await Promise.race([drained, ended]);
    },
    async stop() {
      stdin.end();
      await Promise.race([ended, wait(PATIENCE_MS)]);
      cleaned ??= clean();
      await cleaned;
    },
  };
}

/** One piece per turn of the event loop: a program that prints without end must not delay our timers. */
function readFairly(stream: Readable, take: (piece: Buffer) => void): void {
  stream.on('data', (piece: Buffer) => {
    take(piece);
    stream.pause();
    setImmediate(() => stream.resume());
  });
}
