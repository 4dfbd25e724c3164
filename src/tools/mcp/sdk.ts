import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  Client,
  ProtocolError,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';

export type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';

/** What servers are told and asked. The only file that knows the SDK. */
export interface ClientSettings {
  readonly version: string;
  readonly workspace: string;
  readonly onToolsChanged: () => void;
  readonly onClosed: () => void;
}

export interface McpClient {
  /** Every page of the list, as the server gave it: one odd tool must not cost us all others. */
  listTools(signal: AbortSignal): Promise<unknown[]>;
  callTool(call: ToolCall): Promise<unknown>;
  close(): Promise<void>;
}

export interface ToolCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
}

/** Takes any result as it is; we look at it ourselves. */
const AS_IT_IS = {
  '~standard': { version: 1, vendor: 'bosun', validate: (value: unknown) => ({ value }) },
} as const;
/** Our own timers end a request. */
const NEVER_MS = 2 ** 31 - 1;
const MAX_PAGES = 100;

export async function openClient(
  transport: Transport,
  settings: ClientSettings,
  signal: AbortSignal,
): Promise<McpClient> {
  const info = { name: 'bosun', version: settings.version };
  const client = new Client(info, { capabilities: { roots: {} } });
  const { workspace } = settings;
  const roots = [{ uri: pathToFileURL(workspace).href, name: basename(workspace) }];
  client.setRequestHandler('roots/list', () => ({ roots }));
  client.setNotificationHandler('notifications/tools/list_changed', settings.onToolsChanged);
  Object.assign(client, {
    onclose: settings.onClosed,
    // The older transport would go on trying to get its stream back, while calls wait for answers.
    ...(transport instanceof SSEClientTransport && { onerror: () => void client.close() }),
  });
  await client.connect(transport, { signal, timeout: NEVER_MS });

  async function listTools(stop: AbortSignal): Promise<unknown[]> {
    if (!client.getServerCapabilities()?.tools) return [];
    const tools: unknown[] = [];
    const options = { signal: stop, timeout: NEVER_MS };
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const request = { method: 'tools/list', params: cursor === undefined ? {} : { cursor } };
      const result = (await client.request(request, AS_IT_IS, options)) as Page;
      if (!Array.isArray(result.tools)) throw new Error('its answer to tools/list has no tools');
      tools.push(...result.tools);
      if (typeof result.nextCursor !== 'string' || result.nextCursor === cursor) return tools;
      cursor = result.nextCursor;
    }
    throw new Error(`its list of tools has more than ${MAX_PAGES} pages`);
  }

  return {
    listTools,
    callTool: ({ name, args, signal: stop, onProgress }) =>
      client.request({ method: 'tools/call', params: { name, arguments: args } }, AS_IT_IS, {
        signal: stop,
        timeout: NEVER_MS,
        onprogress: ({ progress, total, message }) =>
          onProgress([total ? `${progress}/${total}` : progress, message].filter(Boolean).join(' ')),
      }),
    close: () => client.close(),
  };
}

interface Page {
  readonly tools?: unknown;
  readonly nextCursor?: unknown;
}

type Headers = Readonly<Record<string, string>>;

/** Redirects to another origin are not followed, so that headers stay with the server they were meant for. */
export function httpTransport(url: string, headers: Headers, maxBytes: number): Transport {
  const fetch = boundedFetch(maxBytes);
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers }, fetch });
  const send = transport.send.bind(transport);
  // An answer that breaks off would be waited for to the end of time.
  transport.send = (message, options) =>
    send(message, {
      ...options,
      onRequestStreamEnd: () => {
        options?.onRequestStreamEnd?.();
        if (!('method' in message && 'id' in message)) return;
        const error = { code: -32_000, message: 'the connection was closed before the answer came' };
        transport.onmessage?.({ jsonrpc: '2.0', id: message.id, error });
      },
    });
  return transport;
}

export function sseTransport(url: string, headers: Headers, maxBytes: number): Transport {
  const fetch = boundedFetch(maxBytes);
  return new SSEClientTransport(new URL(url), { requestInit: { headers }, fetch });
}

/** Whether a server refused the newer protocol in the way that older ones do. */
export function wantsSse(error: unknown): boolean {
  return error instanceof SdkHttpError && [400, 404, 405, 406].includes(error.data.status);
}

/** Whether a server has forgotten us and has to be greeted anew. */
export function isForgotten(error: unknown): boolean {
  return error instanceof SdkHttpError && error.data.status === 404;
}

/** Whether the server itself answered with an error, in which case it is well. */
export function isAnswer(error: unknown): boolean {
  return error instanceof ProtocolError;
}

function boundedFetch(maxBytes: number): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (!response.body) return response;
    const isStream = response.headers.get('content-type')?.includes('event-stream') ?? false;
    const body = response.body.pipeThrough(atMost(maxBytes, isStream));
    return new Response(body, response);
  };
}

/** Fails where a body, or one event of a stream, grows beyond the limit. */
function atMost(maxBytes: number, isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const newline = isStream ? chunk.lastIndexOf(10) : -1;
      size = newline < 0 ? size + chunk.length : chunk.length - newline - 1;
      if (size > maxBytes) controller.error(new Error(`the answer has more than ${maxBytes} bytes`));
      else controller.enqueue(chunk);
    },
  });
}
