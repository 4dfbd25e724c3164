import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from 'node:http';
import type { Server, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { systemResolve, type Resolve } from '../../lib/addresses.js';
import type { NetworkGuard } from '../../protocol/decision.js';
import type { NetworkDecision } from '../../protocol/event.js';
import { Decisions } from './decisions.js';
import { forward } from './forward.js';
import { judgeTarget, type Judgement } from './judge.js';
import { PROXY_LIMITS, type ProxyLimits } from './limits.js';
import { fewLookups } from './lookups.js';
import { plainTarget, tunnelTarget, type Target } from './target.js';
import { tunnel } from './tunnel.js';

export interface ProxyOptions {
  readonly guard: NetworkGuard;
  readonly onDecision: (decision: NetworkDecision) => void;
  /** How names become addresses; by default as the system does it. */
  readonly resolve?: Resolve;
  readonly limits?: Partial<ProxyLimits>;
}

export interface Proxy {
  /** Ends every connection at once, and reports the remaining decisions. */
  close(): void;
}

/**
 * Serves the programs of a sandbox, and lets them reach what the policy allows: `CONNECT`, and plain requests with a
 * whole URL. Every request is judged, on any connection. `listener` is listening already.
 */
export function startProxy(listener: Server, options: ProxyOptions): Proxy {
  const limits = { ...PROXY_LIMITS, ...options.limits };
  const server = serverWithin(limits);
  const decisions = new Decisions(options.onDecision);
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  };
  const resolve = fewLookups(options.resolve ?? systemResolve, limits.connectMs);
  const decide = async (target: Target): Promise<Judgement> => {
    const judgement = await judgeTarget(target, options.guard, resolve);
    const decision = decisions.add(judgement.decision);
    return decision === judgement.decision ? judgement : { decision, addresses: [] };
  };
  const admit = admission(limits);
  server.on('connection', keep);
  server.on('request', (request, response) => {
    if (admit(request, response)) void forwardPlain(request, response, { limits, decide });
  });
  server.on(
    'connect',
    (request, client, head) => void connect(request, client, head, { limits, decide, keep }),
  );
  server.listen(listener);
  // The proxy must not keep a run alive.
  server.unref();
  return {
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      decisions.close();
    },
  };
}

function serverWithin(limits: ProxyLimits): HttpServer {
  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headerMs,
    requestTimeout: 0,
    connectionsCheckingInterval: limits.checkMs,
    insecureHTTPParser: false,
    noDelay: true,
  });
  server.timeout = limits.idleMs;
  server.maxConnections = limits.connections;
  return server;
}

type Admit = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Limits the requests at a time, for one connection and for all. */
function admission({ pipelined, connections }: ProxyLimits): Admit {
  const underWay = new WeakMap<Duplex, number>();
  let requests = 0;
  return (request, response) => {
    const { socket } = request;
    const others = underWay.get(socket) ?? 0;
    if (others >= pipelined) {
      socket.destroy();
      return false;
    }
    if (requests >= connections) {
      refuseRequest(request, response, 503, `more than ${connections} requests at a time`);
      return false;
    }
    requests++;
    underWay.set(socket, others + 1);
    response.once('close', () => {
      requests--;
      underWay.set(socket, (underWay.get(socket) ?? 1) - 1);
    });
    return true;
  };
}

interface Serving {
  readonly limits: ProxyLimits;
  readonly decide: (target: Target) => Promise<Judgement>;
}

async function forwardPlain(
  request: IncomingMessage,
  response: ServerResponse,
  { limits: { connectMs, idleMs }, decide }: Serving,
): Promise<void> {
  const refuse = (status: number, text: string) => refuseRequest(request, response, status, text);
  const asked = plainTarget(request.url ?? '');
  if (!asked) return refuse(400, NOT_A_PROXY_REQUEST);
  const encoding = request.headers['transfer-encoding'];
  if (encoding !== undefined && (encoding.toLowerCase() !== 'chunked' || request.httpVersion === '1.0')) {
    return refuse(501, `the transfer encoding ${encoding} is not understood`);
  }
  const { decision, addresses, failure } = await decide(asked.target);
  if (request.socket.destroyed) return undefined;
  if (decision.decision === 'deny') return refuse(403, refusalText(asked.target, decision.reason));
  if (failure !== undefined) return refuse(502, failure);
  return forward(request, response, {
    ...{ ...asked, addresses, connectMs, idleMs },
    onFailure: (why, timedOut) => refuse(timedOut ? 504 : 502, failureText(asked.target, why)),
  });
}

async function connect(
  { url = '' }: IncomingMessage,
  client: Duplex,
  head: Buffer,
  serving: Serving & { readonly keep: (socket: Socket) => void },
): Promise<void> {
  const { connectMs, idleMs } = serving.limits;
  const refuse = (status: number, text: string) => refuseTunnel(client, status, text);
  const target = tunnelTarget(url);
  if (!target) return refuse(400, NOT_A_PROXY_REQUEST);
  const { decision, addresses, failure } = await serving.decide(target);
  if (client.destroyed) return undefined;
  if (decision.decision === 'deny') return refuse(403, refusalText(target, decision.reason));
  if (failure !== undefined) return refuse(502, failure);
  return tunnel(client, {
    ...{ target, addresses, head, connectMs, idleMs },
    onSocket: serving.keep,
    onFailure: (why, timedOut) => refuse(timedOut ? 504 : 502, failureText(target, why)),
  });
}

const NOT_A_PROXY_REQUEST =
  'this is the proxy of a sandbox: it takes CONNECT host:port and requests for http://host/…';

function refusalText({ host, port }: Target, reason: string): string {
  return `the policy does not let commands reach ${host}:${port}: ${reason}`;
}

/** Programs behind a proxy must learn why it does not serve them. */
function failureText({ host, port }: Target, why: string): string {
  return `${host}:${port} cannot be reached: ${why} (commands connect directly, not through a proxy of this machine)`;
}

const PLAIN_TEXT = { 'content-type': 'text/plain; charset=utf-8' };

function refuseRequest(request: IncomingMessage, response: ServerResponse, status: number, text: string) {
  const body = Buffer.from(`${text}\n`);
  response.writeHead(status, { ...PLAIN_TEXT, 'content-length': body.length, connection: 'close' });
  response.end(body);
  // The rest of what it wanted to send is not read.
  request.resume();
}

function refuseTunnel(client: Duplex, status: number, text: string): void {
  const body = Buffer.from(`${text}\n`);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `content-type: ${PLAIN_TEXT['content-type']}`,
    `content-length: ${body.length}`,
    'connection: close',
  ];
  client.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]), () => client.destroy());
}
