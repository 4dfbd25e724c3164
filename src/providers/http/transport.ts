import {
  Agent,
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { Connections } from './connections.js';
import {
  proxyAddress,
  proxyAuthorization,
  proxyFor,
  TunnelAgent,
  type ConnectSignal,
  type ProxyVariables,
} from './proxy.js';

export interface Timeouts {
  readonly connectMs: number;
  readonly firstByteMs: number;
  readonly idleMs: number;
  /** From the request to the end of its answer. */
  readonly totalMs: number;
}

/** The timeouts of every provider. */
export const TIMEOUTS: Timeouts = {
  connectMs: 30_000,
  firstByteMs: 300_000,
  idleMs: 120_000,
  totalMs: 1_800_000,
};

export interface OutgoingRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: readonly Buffer[];
  readonly signal: AbortSignal | undefined;
}

export interface Transport {
  /**
   * Resolves with the response's head; its body is read from it, under the idle and the total timeout. Nothing is sent
   * twice: an error with `stale` says that an idle connection was gone, and that a new one may work at once.
   */
  send(request: OutgoingRequest): Promise<IncomingMessage>;
  /** Closes idle connections. */
  close(): void;
}

/**
 * HTTP over kept-alive connections, on Node's own client: the built-in `fetch` costs more to load than the rest
 * of a short run, knows no proxies on Node 20, and has timeouts that cannot be told apart. `onSent` is called when
 * a request is on its way: the best moment for work that is needed later.
 */
export function createTransport(
  timeouts: Timeouts,
  variables: ProxyVariables,
  onSent = () => {},
  shared?: Connections,
): Transport {
  const connections = shared ?? new Connections();

  function agentFor(url: URL, proxy: URL | undefined): Agent {
    return connections.agentFor(`${url.protocol}${proxy?.href ?? ''}`, () => {
      if (url.protocol !== 'https:') return new Agent({ keepAlive: true });
      return proxy ? new TunnelAgent(proxy) : new HttpsAgent({ keepAlive: true });
    });
  }

  function open(outgoing: OutgoingRequest, connectSignal: AbortSignal): ClientRequest {
    const url = new URL(outgoing.url);
    const proxy = proxyFor(url, variables);
    const options: RequestOptions & ConnectSignal = {
      method: outgoing.method,
      headers: { ...outgoing.headers, 'content-length': String(size(outgoing.body)) },
      agent: agentFor(url, proxy),
      connectSignal,
    };
    if (url.protocol === 'https:') return httpsRequest(url, options);
    if (!proxy) return httpRequest(url, options);
    // Plain HTTP through a proxy: the whole URL instead of a path.
    const headers = {
      ...outgoing.headers,
      'content-length': String(size(outgoing.body)),
      host: url.host,
      ...proxyAuthorization(proxy),
    };
    return httpRequest({ ...options, headers, ...proxyAddress(proxy), path: url.href });
  }

  function send(outgoing: OutgoingRequest): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const connecting = new AbortController();
      const request = open(outgoing, connecting.signal);
      if (outgoing.signal) giveUpOn(outgoing.signal, request, connecting);
      limitConnect(request, connecting, timeouts.connectMs);
      const waiting = setTimeout(
        () => request.destroy(timeoutError('no first byte', timeouts.firstByteMs, 'first byte')),
        timeouts.firstByteMs,
      );
      request.once('socket', keepQuiet);
      request.once('response', (response) => {
        clearTimeout(waiting);
        limitSilence(request, response, timeouts.idleMs);
        resolve(response);
      });
      limitTotal(request, timeouts.totalMs);
      request.once('error', (error) => {
        clearTimeout(waiting);
        reject(Object.assign(error, { stale: request.reusedSocket && isReset(error) }));
      });
      request.once('finish', onSent);
      for (const piece of joinedBody(outgoing.body)) request.write(piece);
      request.end();
    });
  }

  return {
    send,
    close() {
      // Other runs may be using them.
      if (!shared) connections.close();
    },
  };
}

/** Ends a request with a signal. Node's own option does the same, but watches the streams below one by one. */
function giveUpOn(signal: AbortSignal, request: ClientRequest, connecting: AbortController): void {
  const giveUp = () => {
    connecting.abort();
    const error = new Error('The operation was aborted', { cause: signal.reason });
    request.destroy(Object.assign(error, { name: 'AbortError', code: 'ABORT_ERR' }));
  };
  if (signal.aborted) giveUp();
  signal.addEventListener('abort', giveUp, { once: true });
  request.once('close', () => signal.removeEventListener('abort', giveUp));
}

/** For an idle connection: the server had closed it before it saw the request. */
function isReset(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ECONNRESET' || error.code === 'EPIPE';
}

function size(body: readonly Buffer[]): number {
  return body.reduce((sum, piece) => sum + piece.length, 0);
}

/** Longer pieces are not copied. */
const SMALL_BYTES = 16 * 1024;

/** The same bytes in few pieces: a conversation has two per turn, and each write costs more than a copy. */
function joinedBody(body: readonly Buffer[]): Buffer[] {
  const pieces: Buffer[] = [];
  let small: Buffer[] = [];
  const close = () => {
    if (small.length > 0) pieces.push(Buffer.concat(small));
    small = [];
  };
  for (const piece of body) {
    if (piece.length <= SMALL_BYTES) {
      small.push(piece);
      continue;
    }
    close();
    pieces.push(piece);
  }
  close();
  return pieces;
}

/** Names the limit: each has a different remedy. */
export function timeoutError(what: string, ms: number, limit: string): Error {
  return Object.assign(new Error(`${what} within ${ms / 1000} s (${limit} timeout)`), { code: 'ETIMEDOUT' });
}

const doNothing = () => {};

/** A connection destroyed after its response has ended has no listener left, and would throw. */
function keepQuiet(socket: NodeJS.EventEmitter): void {
  socket.off('error', doNothing);
  socket.on('error', doNothing);
}

function limitConnect(request: ClientRequest, connecting: AbortController, ms: number): void {
  const timer = setTimeout(() => {
    const error = timeoutError('no connection', ms, 'connect');
    connecting.abort(error);
    request.destroy(error);
  }, ms);
  const stop = () => clearTimeout(timer);
  request.once('error', stop);
  request.once('close', stop);
  request.once('socket', (socket) => {
    const secure = 'encrypted' in socket;
    const pending = socket.connecting || (secure && !(socket as TLSSocket).getCipher());
    if (pending) socket.once(secure ? 'secureConnect' : 'connect', stop);
    else stop();
  });
}

function limitSilence(request: ClientRequest, response: IncomingMessage, ms: number): void {
  const timer = setTimeout(() => {
    const error = timeoutError('the stream went silent: nothing received', ms, 'stream idle');
    response.destroy(error);
    request.destroy(error);
  }, ms);
  response.on('data', () => timer.refresh());
  response.pause();
  response.once('close', () => clearTimeout(timer));
}

function limitTotal(request: ClientRequest, ms: number): void {
  let response: IncomingMessage | undefined;
  request.once('response', (message) => (response = message));
  const timer = setTimeout(() => {
    const error = timeoutError('no complete answer', ms, 'total');
    response?.destroy(error);
    request.destroy(error);
  }, ms);
  request.once('close', () => clearTimeout(timer));
}
