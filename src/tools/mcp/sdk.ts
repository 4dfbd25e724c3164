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
import { oneLine } from '../../lib/text.js';
import { boundedFetch } from './bounded-fetch.js';

export type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';

/** What servers are told and asked. The only file that uses the SDK. */
export interface ClientSettings {
  readonly version: string;
  readonly workspace: string;
  readonly onToolsChanged: () => void;
  readonly onClosed: () => void;
}

export interface McpClient {
  /** Every page of the list, as the server gave it: one invalid tool may not cost us all others. */
  listTools(signal: AbortSignal): Promise<unknown[]>;
  callTool(call: ToolCall): Promise<unknown>;
  readonly hasResources: boolean;
  /** Every page of both lists. */
  listResources(signal: AbortSignal): Promise<Listed>;
  readResource(uri: string, signal: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
}

export interface Listed {
  readonly resources: readonly unknown[];
  readonly templates: readonly unknown[];
}

export interface ToolCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
}

/** Accepts any result as it is; we validate it ourselves. */
const AS_IT_IS = {
  '~standard': { version: 1, vendor: 'bosun', validate: (value: unknown) => ({ value }) },
} as const;
/** Our own timers end a request. */
const NEVER_MS = 2 ** 31 - 1;
const MAX_PAGES = 100;
/** The most characters of a progress message. */
const MAX_PROGRESS = 500;
/** How long a server may take to accept a message that needs no answer. */
const TAKEN_MS = 10_000;

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
    // The older transport would keep reconnecting its stream while calls wait for answers.
    ...(transport instanceof SSEClientTransport && { onerror: () => void client.close() }),
  });
  await client.connect(transport, { signal, timeout: NEVER_MS });

  /** All pages of a list, which is under `key` in each. */
  async function listAll(method: string, key: string, stop: AbortSignal): Promise<unknown[]> {
    const entries: unknown[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const request = { method, params: cursor === undefined ? {} : { cursor } };
      const result = (await client.request(request, AS_IT_IS, { signal: stop, timeout: NEVER_MS })) as Page;
      const some = result[key];
      if (!Array.isArray(some)) throw new Error(`its answer to ${method} has no ${key}`);
      for (const entry of some as unknown[]) entries.push(entry);
      const { nextCursor } = result;
      if (typeof nextCursor !== 'string' || nextCursor === cursor) return entries;
      cursor = nextCursor;
    }
    throw new Error(`its list of ${key} has more than ${MAX_PAGES} pages`);
  }

  async function listTools(stop: AbortSignal): Promise<unknown[]> {
    return client.getServerCapabilities()?.tools ? listAll('tools/list', 'tools', stop) : [];
  }

  async function listResources(stop: AbortSignal): Promise<Listed> {
    const resources = await listAll('resources/list', 'resources', stop);
    // Many servers have none, and do not know the method.
    const templates = await listAll('resources/templates/list', 'resourceTemplates', stop).catch(
      (error: unknown) => {
        if (isAnswer(error)) return [];
        throw error;
      },
    );
    return { resources, templates };
  }

  return {
    listTools,
    hasResources: client.getServerCapabilities()?.resources !== undefined,
    listResources,
    readResource: (uri, stop) =>
      client.request({ method: 'resources/read', params: { uri } }, AS_IT_IS, {
        signal: stop,
        timeout: NEVER_MS,
      }),
    callTool: ({ name, args, signal: stop, onProgress }) =>
      client.request({ method: 'tools/call', params: { name, arguments: args } }, AS_IT_IS, {
        signal: stop,
        timeout: NEVER_MS,
        onprogress: ({ progress, total, message = '' }) =>
          onProgress(`${progress}${total ? `/${total}` : ''} ${oneLine(message, MAX_PROGRESS)}`.trim()),
      }),
    close: () => client.close(),
  };
}

type Page = Readonly<Record<string, unknown>>;

type Headers = Readonly<Record<string, string>>;

/** Redirects to another origin are not followed, so that headers only go to the server they are for. */
export function httpTransport(url: string, headers: Headers, maxBytes: number): Transport {
  let broken: string | undefined;
  const fetch = boundedFetch({ maxBytes, onBreak: (why) => (broken = why) });
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers }, fetch });
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if (!('method' in message && 'id' in message))
      return send(message, { ...options, requestSignal: AbortSignal.timeout(TAKEN_MS) });
    // Otherwise a broken answer would be waited for without end.
    const onRequestStreamEnd = () => {
      options?.onRequestStreamEnd?.();
      const why = broken ?? 'the connection was closed before the answer came';
      broken = undefined;
      const error = { code: -32_000, message: why };
      transport.onmessage?.({ jsonrpc: '2.0', id: message.id, error });
    };
    return send(message, { ...options, onRequestStreamEnd });
  };
  return transport;
}

export function sseTransport(url: string, headers: Headers, maxBytes: number): Transport {
  const fetch = boundedFetch({ maxBytes, onBreak: () => {} });
  return new SSEClientTransport(new URL(url), { requestInit: { headers }, fetch });
}

/** Whether a server rejected the newer protocol in the way of older ones. */
export function wantsSse(error: unknown): boolean {
  return error instanceof SdkHttpError && [400, 404, 405, 406].includes(error.data.status);
}

/** Whether a server has forgotten us and must be greeted again. */
export function isForgotten(error: unknown): boolean {
  return error instanceof SdkHttpError && error.data.status === 404;
}

/** Whether the server itself answered with an error, and so is running. */
export function isAnswer(error: unknown): boolean {
  return error instanceof ProtocolError;
}
