import { request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { connect as tlsConnect, type ConnectionOptions } from 'node:tls';

export type ProxyVariables = Readonly<Record<string, string | undefined>>;

/** The proxy that the usual variables name for a URL, or undefined to connect directly. */
export function proxyFor(url: URL, variables: ProxyVariables): URL | undefined {
  const read = (name: string) => variables[name.toLowerCase()] || variables[name];
  if (bypasses(url, read('NO_PROXY') ?? '')) return undefined;
  const value = read(url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY') ?? read('ALL_PROXY');
  if (!value) return undefined;
  return new URL(value.includes('://') ? value : `http://${value}`);
}

/** `NO_PROXY`: names, suffixes (`.example.org`, `example.org` with its subdomains), `host:port`, or `*`. */
function bypasses(url: URL, list: string): boolean {
  const host = url.hostname.replaceAll(/[[\]]/g, '').toLowerCase();
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
    .some((entry) => {
      if (entry === '*') return true;
      const [, name = entry, onlyPort] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
      if (onlyPort !== undefined && onlyPort !== port) return false;
      const suffix = name.replace(/^\*?\./, '');
      return host === suffix || host.endsWith(`.${suffix}`);
    });
}

export function proxyAuthorization(proxy: URL): Record<string, string> {
  if (!proxy.username) return {};
  const user = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` };
}

type Created = (error: Error | null, socket?: Duplex) => void;

/** Reaches TLS servers through a proxy's CONNECT. */
export class TunnelAgent extends HttpsAgent {
  readonly #proxy: URL;

  constructor(proxy: URL) {
    super({ keepAlive: true });
    this.#proxy = proxy;
  }

  override createConnection(options: RequestOptions, callback?: unknown): undefined {
    const created = callback as Created;
    const proxy = this.#proxy;
    const target = `${options.host}:${options.port}`;
    const request = (proxy.protocol === 'https:' ? httpsRequest : httpRequest)({
      host: proxy.hostname,
      port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
      method: 'CONNECT',
      path: target,
      headers: { host: target, ...proxyAuthorization(proxy) },
      agent: false,
    });
    request.once('connect', (response, socket) => {
      if (response.statusCode === 200) {
        const servername = options.servername ?? String(options.host);
        created(null, tlsConnect({ ...(options as ConnectionOptions), socket, servername }));
      } else {
        socket.destroy();
        created(
          new Error(`the proxy ${proxy.host} refused to connect to ${target}: HTTP ${response.statusCode}`),
        );
      }
    });
    request.once('error', (error) => created(new Error(`the proxy ${proxy.host} failed: ${error.message}`)));
    request.end();
  }
}
