import { formatDuration } from '../../lib/duration.js';
import { errorMessage } from '../../lib/errors.js';
import { orAbort } from '../../lib/or-abort.js';
import { oneLine } from '../../lib/text.js';
import type { StartServer } from '../../protocol/process.js';
import type { ServerDeclaration } from '../../protocol/source.js';
import type { ToolError } from '../../protocol/tool-error.js';
import type { ExecuteContext } from '../../protocol/tool.js';
import { callClock } from './call-clock.js';
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

export interface ServerSettings extends Pick<
  ServerDeclaration,
  'name' | 'connectTimeoutMs' | 'timeoutMs' | 'idleTimeoutMs'
> {
  readonly target: ServerTarget;
  readonly workspace: string;
  readonly version: string;
  readonly startServer: StartServer;
  /** Hears what the server says to people. */
  readonly log: (line: string) => void;
}

export interface Server {
  /** Rejects with a reason for people if it cannot be reached in time. */
  connect(signal: AbortSignal): Promise<unknown[]>;
  call(tool: string, args: Readonly<Record<string, unknown>>, context: ExecuteContext): Promise<Answer>;
  /** Asks for its tools anew, and is called when the server says that they are others now. */
  onToolsChanged(listener: (tools: unknown[]) => void): void;
  close(): Promise<void>;
}

export type Answer =
  { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly error: ToolError };

/** The longest message that is taken from a server. */
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;
const LAST_LINES = 50;
const MAX_RESTARTS = 1;

type Sdk = typeof import('./sdk.js');

/** One server for the length of a run. If it ends in between it is started again, once. */
export function createServer(settings: ServerSettings): Server {
  const { name, log } = settings;
  const lastLines: string[] = [];
  let client: McpClient | undefined;
  let ended: string | undefined;
  let restarts = 0;
  let closed = false;
  let reconnecting: Promise<McpClient> | undefined;
  let relisting: Promise<void> | undefined;
  let tellChanged: (tools: unknown[]) => void = () => {};

  const onNoise = (line: string) => {
    const clean = oneLine(line, 500);
    lastLines.push(clean);
    if (lastLines.length > LAST_LINES) lastLines.shift();
    log(clean);
  };

  async function open(sdk: Sdk, transport: Transport, signal: AbortSignal): Promise<McpClient> {
    const { version, workspace } = settings;
    let isOpen = false;
    const onClosed = () => {
      if (isOpen) ended ??= 'the connection was closed';
    };
    const opening = sdk.openClient(transport, { version, workspace, onToolsChanged, onClosed }, signal);
    try {
      const opened = await orAbort(opening, signal);
      isOpen = true;
      return opened;
    } catch (error) {
      opening.catch(() => {});
      // What ends it from here on are we.
      const died = ended;
      await transport.close();
      throw died === undefined ? error : new Error(`it ended (${died})`);
    }
  }

  async function openTarget(signal: AbortSignal): Promise<McpClient> {
    const { target, startServer, workspace } = settings;
    // A program needs longer to start than we do to load: both at once.
    const loading = import('./sdk.js');
    if (target.type === 'stdio') {
      const transport = stdioTransport({
        ...target,
        directory: workspace,
        startServer,
        maxBytes: MAX_MESSAGE_BYTES,
        onNoise,
        onEnd: (how) => (ended ??= how),
      });
      const { start } = transport;
      const starting = start();
      transport.start = () => starting;
      starting.catch(() => {});
      return open(await loading, transport, signal);
    }
    const sdk = await loading;
    const { url, headers } = target;
    try {
      return await open(sdk, sdk.httpTransport(url, headers, MAX_MESSAGE_BYTES), signal);
    } catch (error) {
      if (!sdk.wantsSse(error)) throw error;
      return open(sdk, sdk.sseTransport(url, headers, MAX_MESSAGE_BYTES), signal).catch(() => {
        throw error;
      });
    }
  }

  async function connect(signal: AbortSignal): Promise<unknown[]> {
    const deadline = new AbortController();
    const { connectTimeoutMs } = settings;
    const late = new Error(`no answer within ${formatDuration(connectTimeoutMs)}`);
    const timer = setTimeout(() => deadline.abort(late), connectTimeoutMs);
    const either = AbortSignal.any([signal, deadline.signal]);
    ended = undefined;
    try {
      client = await openTarget(either);
      return await orAbort(client.listTools(either), either);
    } catch (error) {
      const opened = client;
      client = undefined;
      await opened?.close();
      const why = signal.aborted ? 'cancelled' : reasonOf(deadline.signal.aborted ? late : error);
      throw new Error(withLastLines(why), { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  function onToolsChanged(): void {
    const listing = client?.listTools(AbortSignal.timeout(settings.connectTimeoutMs));
    relisting = listing?.then(tellChanged, (error) =>
      log(`its new list of tools cannot be had: ${reasonOf(error)}`),
    );
  }

  /** The client for a call: where the server has ended in the meantime, a new one. */
  async function living(signal: AbortSignal): Promise<McpClient> {
    if (client && ended === undefined) return client;
    reconnecting ??= reconnect(signal).finally(() => (reconnecting = undefined));
    return orAbort(reconnecting, signal);
  }

  async function reconnect(signal: AbortSignal): Promise<McpClient> {
    if (closed || restarts >= MAX_RESTARTS) throw new Error(`it has ended (${ended})`);
    restarts++;
    log(`it has ended (${ended}) and is started again`);
    await client?.close();
    client = undefined;
    tellChanged(await connect(signal));
    return client as unknown as McpClient;
  }

  async function call(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    context: ExecuteContext,
  ): Promise<Answer> {
    const clock = callClock(settings, context.signal);
    let isUnderWay = false;
    try {
      const caller = await living(clock.signal);
      const onProgress = (text: string) => {
        clock.signOfLife();
        context.onOutput(`${text}\n`);
      };
      isUnderWay = true;
      const calling = caller.callTool({ name: tool, args, signal: clock.signal, onProgress });
      const result = await orAbort(calling, clock.signal);
      // If the call has changed what tools there are, the next turn should know.
      if (relisting) await orAbort(relisting, clock.signal);
      return { ok: true, result };
    } catch (error) {
      return { ok: false, error: clock.ended() ?? (await failureOf(error, isUnderWay)) };
    } finally {
      clock.stop();
    }
  }

  async function failureOf(error: unknown, isUnderWay: boolean): Promise<ToolError> {
    const sdk = await import('./sdk.js');
    if (sdk.isForgotten(error)) ended ??= 'it does not know the session any more';
    const died = isUnderWay && ended !== undefined;
    const what = died ? `it ended during the call (${ended})` : reasonOf(error);
    const again = died && restarts < MAX_RESTARTS ? ' It will be started again for the next call.' : '';
    const message = sdk.isAnswer(error) && !died ? what : withLastLines(what);
    return { type: 'mcp_tool_error', message: `MCP server ${name}: ${message}.${again}` };
  }

  function withLastLines(text: string): string {
    return lastLines.length === 0 ? text : `${text}. Its last lines:\n${lastLines.join('\n')}`;
  }

  return {
    connect,
    call,
    onToolsChanged: (listener) => (tellChanged = listener),
    async close() {
      closed = true;
      await client?.close();
    },
  };
}

/** What went wrong, with the reason that `fetch` keeps to itself. */
function reasonOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  const inner = cause === undefined ? '' : ` (${(cause as { code?: string }).code ?? errorMessage(cause)})`;
  return oneLine(`${errorMessage(error)}${inner}`, 1000).replace(/\.$/, '');
}
