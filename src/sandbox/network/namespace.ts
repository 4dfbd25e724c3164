import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Server } from 'node:net';
import { formatDuration } from '../../lib/duration.js';
import { errorMessage } from '../../lib/errors.js';
import { orAbort } from '../../lib/or-abort.js';
import { runProgram, startProcess, type StartedProcess } from '../../lib/run-program.js';
import { signalProcess } from '../kill-tree.js';

/** A network with only a loopback. It exists as long as we hold it open, without any process in it. */
export interface NetworkNamespace {
  /** Listens on the loopback inside. */
  readonly listener: Server;
  readonly port: number;
  /** Comes before a command that is to run inside. */
  readonly enter: readonly string[];
  close(): void;
}

export interface NamespaceOptions {
  readonly bwrap: string;
  readonly nsenter: string;
  readonly signal?: AbortSignal;
}

const LIMIT_MS = 10_000;

/**
 * Runs in the new network for a moment: opens a port there, and hands it to us with its own process id, by which we
 * open the network. Ends when we release it or are gone.
 */
const OPENER = `
const server = require('node:net').createServer();
process.on('disconnect', () => server.close());
server.listen(0, '127.0.0.1', () => process.send({ pid: process.pid, port: server.address().port }, server));
`;

/**
 * Creates a network namespace and opens a port in it. Root needs nothing else; other users, and a root without
 * rights, need a user namespace around it. Rejects with the reason in one line.
 */
export async function openNamespace(options: NamespaceOptions): Promise<NetworkNamespace> {
  if (process.geteuid?.() === 0) {
    try {
      return await openIn([], options);
    } catch (error) {
      if (options.signal?.aborted) throw error;
    }
  }
  return openIn(['--unshare-user'], options);
}

async function openIn(own: readonly string[], options: NamespaceOptions): Promise<NetworkNamespace> {
  const { bwrap, nsenter } = options;
  const time = AbortSignal.timeout(LIMIT_MS);
  const signal = AbortSignal.any([options.signal ?? [], time].flat());
  const words = ['--unshare-net', ...own, '--die-with-parent', '--dev-bind', '/', '/'];
  const started = await startProcess({
    program: [bwrap, ...words, process.execPath, '-e', OPENER],
    directory: '/',
    environment: {},
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    detached: true,
  }).catch((error: unknown) => {
    throw noNetwork(errorMessage(error));
  });
  const { child: opener } = started;
  const files: number[] = [];
  let listener: Server | undefined;
  const close = () => {
    listener?.close();
    for (const file of files.splice(0)) closeSync(file);
  };
  try {
    const opened = await orAbort(openedBy(started), signal);
    ({ listener } = opened);
    const hold = (kind: 'net' | 'user') => {
      const file = openSync(`/proc/${opened.pid}/ns/${kind}`, 'r');
      files.push(file);
      return `--${kind}=/proc/${process.pid}/fd/${file}`;
    };
    const ways = own.length > 0 ? [hold('user'), '--preserve-credentials'] : [];
    const enter = [nsenter, ...ways, hold('net'), '--'];
    // While it exists it accepts connections as well, and does nothing with them.
    opener.disconnect();
    await orAbort(Promise.all([opened.left, proveEntry([...enter, bwrap, '--version'], signal)]), signal);
    return { listener: opened.listener, port: opened.port, enter, close };
  } catch (error) {
    close();
    endGroup(opener);
    throw time.aborted ? new Error(`the sandbox had no network within ${formatDuration(LIMIT_MS)}`) : error;
  }
}

interface Opened {
  readonly pid: number;
  readonly port: number;
  readonly listener: Server;
  /** Resolves when the opener is gone. */
  readonly left: Promise<unknown>;
}

function openedBy({ child, exited, closed }: StartedProcess): Promise<Opened> {
  return new Promise((resolve, reject) => {
    const complaint = lastLineOf(child);
    void closed.then(({ code, signal }) =>
      reject(noNetwork(complaint() || `bwrap ended with ${signal ?? code}`)),
    );
    child.once('message', (message, handle) => {
      resolve({ ...(message as { pid: number; port: number }), listener: handle as Server, left: exited });
    });
  });
}

function noNetwork(why: string): Error {
  return new Error(`the sandbox cannot create a network: ${why}`);
}

async function proveEntry([file = '', ...args]: readonly string[], signal: AbortSignal): Promise<void> {
  const end = await runProgram({
    file,
    args,
    directory: '/',
    environment: {},
    timeoutMs: LIMIT_MS,
    maxBytes: 1000,
    signal,
  });
  if (end.type === 'ended' && end.code === 0) return;
  const why = end.type === 'failed' ? end.message : lastLine(end.stderr) || `nsenter ended with ${end.code}`;
  throw new Error(`the sandbox cannot enter its network: ${why}`);
}

/** The whole group: killed at the wrong moment, bwrap leaves a child behind that waits for it for ever. */
function endGroup(opener: ChildProcess): void {
  if (opener.pid !== undefined) signalProcess(-opener.pid, 'SIGKILL');
  if (opener.connected) opener.disconnect();
  opener.stderr?.destroy();
}

/** What a program said last on stderr. */
function lastLineOf({ stderr }: ChildProcess): () => string {
  let text = '';
  stderr?.setEncoding('utf8').on('data', (chunk: string) => (text = (text + chunk).slice(-1000)));
  return () => lastLine(text);
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
