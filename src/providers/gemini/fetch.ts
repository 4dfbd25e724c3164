import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { parseJson } from '../../lib/parse-json.js';
import { readText } from '../http/read-text.js';
import type { Transport } from '../http/transport.js';
import { Headers } from '../http/web.js';
import { dataLines } from './events.js';

type HeaderSource = Iterable<[string, string]>;

interface SdkRequest {
  readonly method?: string;
  readonly headers?: HeaderSource;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

export interface FetchHooks {
  /** Turns the SDK's request body into what is sent. */
  readonly body: (sdkBody: string) => readonly Buffer[];
  /** Called when an answer begins: the SDK's errors do not contain its headers. */
  readonly onHead: (headers: IncomingHttpHeaders) => void;
  /** Called with the data of each event of the response. */
  readonly onData: (data: string) => void;
}

/** A `fetch` for the SDK, over our transport. */
export function fetchOver(transport: Transport, { body, onHead, onData }: FetchHooks) {
  return async (url: string, request: SdkRequest) => {
    const response = await transport.send({
      url,
      method: request.method ?? 'POST',
      headers: Object.fromEntries(request.headers ?? []),
      body: body(request.body ?? ''),
      signal: request.signal,
    });
    onHead(response.headers);
    return responseFor(response, onData);
  };
}

function responseFor(message: IncomingMessage, onData: (data: string) => void) {
  const status = message.statusCode ?? 0;
  const headers = new Headers();
  for (const [name, value] of Object.entries(message.headers)) {
    for (const single of [value ?? []].flat()) headers.append(name, single);
  }
  const text = () => readText(message);
  return {
    ok: status >= 200 && status < 300,
    status,
    statusText: message.statusMessage ?? '',
    headers,
    text,
    json: async () => errorBody(await text()),
    body: { getReader: () => readerOf(message, onData) },
  };
}

/** The SDK only asks for the JSON of errors. A broken one still has a useful status. */
function errorBody(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return { error: { message: text } };
  }
}

function readerOf(message: IncomingMessage, onData: (data: string) => void) {
  const lines = dataLines(message, onData);
  return { read: () => lines.next(), releaseLock: () => {} };
}
