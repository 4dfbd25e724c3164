import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { Launch, Launcher, RunningServer, ServerRequest, StartServer } from '../protocol/process.js';
import { groups } from './groups.js';
import { killTree } from './kill-tree.js';
import { spawnLaunch } from './spawn-launch.js';
import { unwatch, watch } from './watchdog.js';

/** How long a server has to end by itself once its stdin is closed. */
const PATIENCE_MS = 500;

/** Starts programs that stay, each in a process group of its own, and in a box if there is one. */
export function serverStarter(launcher: Launcher | undefined): StartServer {
  return async (request) => {
    const { command, directory, environment } = request;
    const launch = await launcher?.server(command, directory, environment);
    return start(request, launch ?? { program: command, directory, environment }, launch !== undefined);
  };
}

async function start(request: ServerRequest, launch: Launch, isBox: boolean): Promise<RunningServer> {
  const marker = randomBytes(8).toString('hex');
  const child = spawnLaunch(launch, marker, ['pipe', 'pipe', 'pipe']) as ChildProcessWithoutNullStreams;
  // A server that has ended reads nothing any more; its end is told elsewhere.
  child.stdin.on('error', () => {});
  await once(child, 'spawn');
  return supervise(child, request, { marker, isBox });
}

function supervise(
  child: ChildProcessWithoutNullStreams,
  request: ServerRequest,
  { marker, isBox }: { readonly marker: string; readonly isBox: boolean },
): RunningServer {
  const leader = child.pid as number;
  groups.set(leader, marker);
  watch(leader, marker);
  readFairly(child.stdout, request.onOutput);
  readFairly(child.stderr, request.onErrorOutput);
  let drained: Promise<unknown> | undefined;
  let cleaned: Promise<void> | undefined;
  const ended = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      // What it has started must not stay behind, and may hold its pipes open.
      cleaned ??= clean();
      // Its last words may still be in the pipe.
      void Promise.race([once(child, 'close'), wait(PATIENCE_MS)]).then(() => {
        child.stdout.destroy();
        child.stderr.destroy();
        request.onEnd(signal ? `killed by ${signal}` : `exit code ${code}`);
        resolve();
      });
    });
  });

  async function clean(): Promise<void> {
    await killTree(leader, marker, { isBox });
    groups.delete(leader);
    unwatch(leader);
  }

  return {
    async write(text) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      if (child.stdin.write(text)) return;
      drained ??= once(child.stdin, 'drain')
        .catch(() => {})
        .finally(() => (drained = undefined));
      await Promise.race([drained, ended]);
    },
    async stop() {
      child.stdin.end();
      await Promise.race([ended, wait(PATIENCE_MS)]);
      cleaned ??= clean();
      await cleaned;
    },
  };
}

/** One piece in each turn of the event loop: a program that prints without end must not keep our timers waiting. */
function readFairly(stream: Readable, take: (piece: Buffer) => void): void {
  stream.on('data', (piece: Buffer) => {
    take(piece);
    stream.pause();
    setImmediate(() => stream.resume());
  });
}
