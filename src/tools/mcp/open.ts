import { orAbort } from '../../lib/or-abort.js';
import type { StartServer } from '../../protocol/process.js';
import { guardedTransport } from './guard.js';
import type { McpClient, Transport } from './sdk.js';
import { stdioTransport } from './stdio.js';

/** How to reach one server, with everything filled in. */
export type ServerTarget =
  | {
      readonly type: 'stdio';
      readonly command: readonly string[];
      readonly environment: Readonly<Record<string, string>>;
    }
  | { readonly type: 'http'; readonly url: string; readonly headers: Readonly<Record<string, string>> };

export interface OpenSettings {
  readonly target: ServerTarget;
  readonly workspace: string;
  readonly version: string;
  readonly startServer: StartServer;
}

export interface OpenHandlers {
  /** A line of the server that is not a message. */
  readonly onNoise: (line: string) => void;
  readonly onToolsChanged: () => void;
  /** The open server, or the connection to it, has ended. */
  readonly onEnd: (how: string) => void;
}

/** The longest message accepted from a server. */
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;

type Sdk = typeof import('./sdk.js');
type Greet = (sdk: Sdk, transport: Transport) => Promise<McpClient>;

/** Starts a server, or connects to its address, and greets it. If that fails, nothing is left running. */
export async function openServer(
  settings: OpenSettings,
  handlers: OpenHandlers,
  signal: AbortSignal,
): Promise<McpClient> {
  const { target, startServer, version, workspace } = settings;
  let isOpen = false;
  let died: string | undefined;
  const onEnd = (how: string) => {
    died ??= how;
    if (isOpen) handlers.onEnd(how);
  };
  const { onNoise, onToolsChanged } = handlers;
  const onClosed = () => isOpen && onEnd('the connection was closed');

  const greet: Greet = async (sdk, unguarded) => {
    const transport = guardedTransport(unguarded, (what) => {
      onEnd(what);
      void unguarded.close();
    });
    const opening = sdk.openClient(transport, { version, workspace, onToolsChanged, onClosed }, signal);
    try {
      const client = await orAbort(opening, signal);
      isOpen = true;
      return client;
    } catch (error) {
      opening.catch(() => {});
      const reason = died === undefined ? error : new Error(`it ended (${died})`);
      await transport.close();
      throw reason;
    }
  };

  // A program takes longer to start than we to load: do both at once.
  const loading = import('./sdk.js');
  if (target.type === 'http') return greetFar(await loading, target, greet);
  const pipes = { startServer, directory: workspace, maxBytes: MAX_MESSAGE_BYTES, onNoise, onEnd };
  const transport = stdioTransport({ ...target, ...pipes });
  return greet(await loading, transport);
}

/** Old servers reject the newer transport; they get the older one. */
async function greetFar(
  sdk: Sdk,
  { url, headers }: Extract<ServerTarget, { type: 'http' }>,
  greet: Greet,
): Promise<McpClient> {
  try {
    return await greet(sdk, sdk.httpTransport(url, headers, MAX_MESSAGE_BYTES));
  } catch (error) {
    if (!sdk.wantsSse(error)) throw error;
    return greet(sdk, sdk.sseTransport(url, headers, MAX_MESSAGE_BYTES)).catch(() => {
      throw error;
    });
  }
}
