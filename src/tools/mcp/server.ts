import { orAbort } from '../../lib/or-abort.js';
import { sentence } from '../../lib/text.js';
import type { ServerDeclaration } from '../../protocol/source.js';
import type { ToolError } from '../../protocol/tool-error.js';
import type { ExecuteContext } from '../../protocol/tool.js';
import { callClock } from './call-clock.js';
import { Connection, reasonOf, type ConnectionSettings } from './connection.js';
import type { McpClient } from './sdk.js';

export interface ServerSettings
  extends ConnectionSettings, Pick<ServerDeclaration, 'timeoutMs' | 'idleTimeoutMs'> {}

export interface Server {
  /** Rejects with a reason for people if it cannot be reached in time. */
  connect(signal: AbortSignal): Promise<unknown[]>;
  call(tool: string, args: Readonly<Record<string, unknown>>, context: ExecuteContext): Promise<Answer>;
  /** Asks for its resources, or for one of them. */
  ask(
    what: 'list_resources' | 'read_resource',
    about: { readonly uri?: string },
    context: ExecuteContext,
  ): Promise<Answer>;
  /** Once it is connected. */
  hasResources(): boolean;
  /** Asks for the tools again when the server says that they have changed, and hands them over. */
  onToolsChanged(listener: (tools: unknown[]) => void): void;
  close(): Promise<void>;
}

export type Answer =
  { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly error: ToolError };

/** Sends one request through a client. */
type Send = (caller: McpClient, stop: AbortSignal, onProgress: (text: string) => void) => Promise<unknown>;

/** One server for the length of a run. */
export function createServer(settings: ServerSettings): Server {
  const connection = new Connection(settings);
  const request = (context: ExecuteContext, send: Send) => sendRequest(connection, settings, context, send);
  return {
    connect: (signal) => connection.connect(signal),
    call: (name, args, context) =>
      request(context, (caller, signal, onProgress) => caller.callTool({ name, args, signal, onProgress })),
    ask: (what, { uri = '' }, context) =>
      request(context, (caller, signal) =>
        what === 'list_resources' ? caller.listResources(signal) : caller.readResource(uri, signal),
      ),
    hasResources: () => connection.hasResources,
    onToolsChanged: (listener) => connection.onToolsChanged(listener),
    close: () => connection.close(),
  };
}

/** One request under the limits of a call. */
async function sendRequest(
  connection: Connection,
  settings: ServerSettings,
  context: ExecuteContext,
  send: Send,
): Promise<Answer> {
  const clock = callClock(settings, context.signal);
  let isUnderWay = false;
  try {
    const caller = await connection.living(clock.signal);
    const onProgress = (text: string) => {
      clock.signOfLife();
      context.onOutput(`${text}\n`);
    };
    isUnderWay = true;
    const result = await orAbort(send(caller, clock.signal, onProgress), clock.signal);
    // If the call has changed the tools, the next turn should know.
    await connection.settled(clock.signal);
    return { ok: true, result };
  } catch (error) {
    const ended = clock.ended();
    return {
      ok: false,
      error: ended ?? (await requestFailure(error, connection, settings.name, isUnderWay)),
    };
  } finally {
    clock.stop();
  }
}

async function requestFailure(
  error: unknown,
  connection: Connection,
  name: string,
  isUnderWay: boolean,
): Promise<ToolError> {
  const sdk = await import('./sdk.js');
  if (sdk.isForgotten(error)) connection.end('it no longer knows the session');
  const died = isUnderWay && connection.ended !== undefined;
  const what = died ? `it ended during the call (${connection.ended})` : reasonOf(error);
  const again = died && connection.mayRestart ? ' It will be started again for the next call.' : '';
  const message = sdk.isAnswer(error) && !died ? what : connection.lastLines.after(what);
  return { type: 'mcp_tool_error', message: `MCP server ${name}: ${sentence(message)}${again}` };
}
