import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { LookupAddress } from 'node:dns';
import { pipeline } from 'node:stream';
import { fixedLookup } from '../../lib/addresses.js';
import type { PlainTarget } from './target.js';

export interface Onward extends PlainTarget {
  readonly addresses: readonly LookupAddress[];
  readonly connectMs: number;
  readonly idleMs: number;
  /** Why it failed, if no answer was begun. */
  readonly onFailure: (why: string, timedOut: boolean) => void;
}

/** These are about one connection only, or ours to set. */
const OURS = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Forwards one plain request over its own connection, and returns the answer. */
export function forward(request: IncomingMessage, response: ServerResponse, onward: Onward): void {
  const { target, path, addresses, connectMs, idleMs } = onward;
  const sent = httpRequest({
    host: target.host,
    port: target.port,
    method: request.method ?? 'GET',
    path,
    headers: [...headersOf(request), ...bodyHeaders(request), 'Host', target.urls[0].host],
    lookup: fixedLookup(addresses),
    agent: false,
    timeout: idleMs,
  });
  let failure = 'the server closed the connection';
  let timedOut = false;
  const late = setTimeout(() => {
    timedOut = true;
    sent.destroy(new Error('no connection in time'));
  }, connectMs);
  sent.once('socket', (socket) => socket.once('connect', () => clearTimeout(late)));
  sent.once('timeout', () => {
    timedOut = true;
    sent.destroy(new Error('the server is silent'));
  });
  sent.on('error', (error) => (failure = error.message));
  sent.once('response', (answer) => giveBack(answer, response));
  sent.once('close', () => {
    clearTimeout(late);
    if (response.headersSent) return;
    onward.onFailure(failure, timedOut);
  });
  response.once('close', () => {
    sent.destroy();
    // The rest of a request that nobody reads must not be taken for the next one.
    if (!request.complete) request.socket.destroy();
  });
  pipeline(request, sent, () => {});
}

function giveBack(answer: IncomingMessage, response: ServerResponse): void {
  const length = answer.headers['content-length'];
  const framed = length === undefined ? [] : ['Content-Length', length];
  response.sendDate = false;
  try {
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? '', [
      ...headersOf(answer),
      ...framed,
    ]);
  } catch {
    answer.destroy();
    return;
  }
  pipeline(answer, response, () => {});
}

/** Unchanged, without those that end here. */
function headersOf({ rawHeaders, headers }: IncomingMessage): string[] {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const kept: string[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    const lower = name.toLowerCase();
    if (!OURS.has(lower) && !named.includes(lower)) kept.push(name, rawHeaders[i + 1] as string);
  }
  return kept;
}

/** The length of the body, in our own headers: what was read is what is sent. */
function bodyHeaders({ headers }: IncomingMessage): string[] {
  if (headers['transfer-encoding'] !== undefined) return ['Transfer-Encoding', 'chunked'];
  const length = headers['content-length'];
  return length === undefined ? [] : ['Content-Length', length];
}
