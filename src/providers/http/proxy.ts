import { errorWithCode } from '../../lib/errors.js';
import { request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { connect as tlsConnect, type ConnectionOptions } from 'node:tls';
import { withoutBrackets } from '../../lib/ip-address.js';

export type ProxyVariables = Readonly<Record<string, string | undefined>>;

/** The proxy that the usual variables name for a URL, or undefined to connect directly. */
export function proxyFor(url: URL, variables: ProxyVariables): URL | undefined {
  const read = (name: string) => variables[name.toLowerCase()] || variables[name] || undefined;
  if (bypasses(url, read('NO_PROXY') ?? '')) return undefined;
  const value = read(url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY') ?? read('ALL_PROXY');
  return value === undefined ? undefined : parseProxy(value);
}

function parseProxy(value: string): URL {
  let proxy: URL | undefined;
  try {
    proxy = new URL(value.includes('://') ? value : `http://${value}`);
    decodeURIComponent(proxy.username + proxy.password);
  } catch {
    proxy = undefined;
  }
  if (!proxy?.hostname || !/^https?:$/.test(proxy.protocol)) {
    // Without its value: that may hold a password.
    throw errorWithCode(
      'ERR_PROXY_ADDRESS',
      'the proxy variable is not an http:// or https:// address of a proxy',
    );
  }
  return proxy;
}

/** `NO_PROXY`: names, suffixes (`.example.org`, `example.org` with its subdomains), `host:port`, or `*`. */
function bypasses(url: URL, list: string): boolean {
  const host = withoutBrackets(url.hostname).toLowerCase();
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
    .some((entry) => {
      if (entry === '*' || withoutBrackets(entry) === host) return true;
      const [, name = entry, onlyPort] = /^(\[.*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
      if (onlyPort !== undefined && onlyPort !== port) return false;
      const suffix = withoutBrackets(name).replace(/^\*?\./, '');
      return host === suffix || host.endsWith(`.${suffix}`);
    });
}

/** Where to connect to reach a proxy. */
export function proxyAddress(proxy: URL): { host: string; port: number } {
  return {
    host: withoutBrackets(proxy.hostname),
    port: Number(proxy.port) || (proxy.protocol === 'https:' ? 443 : 80),
  };
}

export function proxyAuthorization(proxy: URL): Record<string, string> {
  if (!proxy.username) return {};
  const user = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` };
}

type Created = (error: Error | null, socket?: Duplex) => void;

/** An option of requests: ends the attempt to get a connection. Node ends only connections that it already has. */
export interface ConnectSignal {
  readonly connectSignal?: AbortSignal;
}

/** Reaches TLS servers through a proxy's CONNECT. */
export class TunnelAgent extends HttpsAgent {
  readonly #proxy: URL;

  constructor(proxy: URL) {
    super({ keepAlive: true });
    this.#proxy = proxy;
  }

  override createConnection(options: RequestOptions & ConnectSignal, callback?: unknown): undefined {
    const created = callback as Created;
    const proxy = this.#proxy;
    const { connectSignal: signal } = options;
    const host = String(options.host);
    const target = `${host.includes(':') ? `[${host}]` : host}:${options.port}`;
    const request = (proxy.protocol === 'https:' ? httpsRequest : httpRequest)({
      ...proxyAddress(proxy),
      method: 'CONNECT',
      path: target,
      headers: { host: target, ...proxyAuthorization(proxy) },
      agent: false,
      ...(signal && { signal }),
    });
    request.once('connect', (response, socket) => {
      if (response.statusCode === 200) {
        const servername = options.servername ?? host;
        created(null, tlsConnect({ ...(options as ConnectionOptions), socket, servername }));
      } else {
        socket.destroy();
        const message = `the proxy ${proxy.host} refused to connect to ${target}: HTTP ${response.statusCode}`;
        const code = response.statusCode === 407 ? 'ERR_PROXY_AUTHENTICATION' : 'ECONNREFUSED';
        created(Object.assign(new Error(message), { code }));
      }
    });
    request.once('error', (error) => {
      const reason: unknown = signal?.reason;
      created(
        reason instanceof Error
          ? reason
          : new Error(`the proxy ${proxy.host} failed: ${error.message}`, { cause: error }),
      );
    });
    request.end();
  }
}
