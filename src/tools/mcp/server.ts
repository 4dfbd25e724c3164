import { formatDuration } from '../../lib/duration.js';
import { errorMessage } from '../../lib/errors.js';
import { orAbort } from '../../lib/or-abort.js';
import { oneLine, sentence } from '../../lib/text.js';
import type { ServerDeclaration } from '../../protocol/source.js';
import type { ToolError } from '../../protocol/tool-error.js';
import type { ExecuteContext } from '../../protocol/tool.js';
import { callClock } from './call-clock.js';
import { createListing, MAX_LISTINGS } from './listing.js';
import { openServer, type OpenSettings } from './open.js';
import type { McpClient } from './sdk.js';

export interface ServerSettings
  extends OpenSettings, Pick<ServerDeclaration, 'name' | 'connectTimeoutMs' | 'timeoutMs' | 'idleTimeoutMs'> {
  /** Hears what the server says to people. */
  readonly log: (line: string) => void;
}

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
  /** Asks for its tools again, and is called when the server says that they are others now. */
  onToolsChanged(listener: (tools: unknown[]) => void): void;
  close(): Promise<void>;
}

export type Answer =
  { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly error: ToolError };

const LAST_LINES = 50;
/** A log is for people. */
const MAX_LOGGED = 300;
const MAX_RESTARTS = 1;

/** One server for the length of a run. If it ends in between it is started again, once. */
export function createServer(settings: ServerSettings): Server {
  const { name, log } = settings;
  const lastLines: string[] = [];
  let lines = 0;
  let client: McpClient | undefined;
  let ended: string | undefined;
  let restarts = 0;
  let closed = false;
  let reconnecting: Promise<McpClient> | undefined;
  let tellChanged: (tools: unknown[]) => void = () => {};

  const onNoise = (line: string) => {
    const clean = oneLine(line, 500);
    lastLines.push(clean);
    if (lastLines.length > LAST_LINES) lastLines.shift();
    if (++lines <= MAX_LOGGED) log(clean);
    if (lines === MAX_LOGGED) log('(what else it says is not shown)');
  };

  async function connect(signal: AbortSignal): Promise<unknown[]> {
    const deadline = new AbortController();
    const { connectTimeoutMs } = settings;
    const late = new Error(`no answer within ${formatDuration(connectTimeoutMs)}`);
    const timer = setTimeout(() => deadline.abort(late), connectTimeoutMs);
    const either = AbortSignal.any([signal, deadline.signal]);
    ended = undefined;
    try {
      const onEnd = (how: string) => (ended ??= how);
      client = await openServer(settings, { onNoise, onToolsChanged: listing.changed, onEnd }, either);
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

  const listing = createListing({
    async list() {
      const stop = AbortSignal.timeout(settings.connectTimeoutMs);
      try {
        if (client) tellChanged(await orAbort(client.listTools(stop), stop));
      } catch (error) {
        log(`its new list of tools is not available: ${reasonOf(error)}`);
      }
    },
    onTooMany: () =>
      log(`it has changed its tools ${MAX_LISTINGS} times: what it has from now on is not asked for`),
  });

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

  /** One request under the limits of a call. */
  async function request(
    context: ExecuteContext,
    send: (caller: McpClient, stop: AbortSignal, onProgress: (text: string) => void) => Promise<unknown>,
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
      const result = await orAbort(send(caller, clock.signal, onProgress), clock.signal);
      // If the call has changed what tools there are, the next turn should know.
      await listing.settled(clock.signal);
      return { ok: true, result };
    } catch (error) {
      return { ok: false, error: clock.ended() ?? (await failureOf(error, isUnderWay)) };
    } finally {
      clock.stop();
    }
  }

  const call: Server['call'] = (tool, args, context) =>
    request(context, (caller, signal, onProgress) =>
      caller.callTool({ name: tool, args, signal, onProgress }),
    );

  const ask: Server['ask'] = (what, { uri = '' }, context) =>
    request(context, (caller, signal) =>
      what === 'list_resources' ? caller.listResources(signal) : caller.readResource(uri, signal),
    );

  async function failureOf(error: unknown, isUnderWay: boolean): Promise<ToolError> {
    const sdk = await import('./sdk.js');
    if (sdk.isForgotten(error)) ended ??= 'it no longer knows the session';
    const died = isUnderWay && ended !== undefined;
    const what = died ? `it ended during the call (${ended})` : reasonOf(error);
    const again = died && restarts < MAX_RESTARTS ? ' It will be started again for the next call.' : '';
    const message = sdk.isAnswer(error) && !died ? what : withLastLines(what);
    return { type: 'mcp_tool_error', message: `MCP server ${name}: ${sentence(message)}${again}` };
  }

  function withLastLines(text: string): string {
    return lastLines.length === 0 ? text : `${text}. Its last lines:\n${lastLines.join('\n')}`;
  }

  return {
    connect,
    call,
    ask,
    hasResources: () => client?.hasResources ?? false,
    onToolsChanged: (listener) => (tellChanged = listener),
    async close() {
      closed = true;
      listing.stop();
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
