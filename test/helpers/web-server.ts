import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Visit {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Resolves when the visitor's connection is gone. */
  readonly closed: Promise<void>;
}

interface Reply {
  readonly status?: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export type Route = Reply | ((request: IncomingMessage, response: ServerResponse) => void);

/** A web server on loopback with some pages; whatever else is asked for is a 404. */
export async function startWebServer(routes: Readonly<Record<string, Route>>, host = '127.0.0.1') {
  const visits: Visit[] = [];
  const server = createServer((request, response) => {
    const { url = '', headers, socket } = request;
    visits.push({ url, headers, closed: new Promise((resolve) => socket.once('close', () => resolve())) });
    const route = routes[url] ?? { status: 404, body: 'There is no such page.' };
    if (typeof route === 'function') {
      route(request, response);
      return;
    }
    const { status = 200, type = 'text/plain', headers: more = {}, body = '' } = route;
    response.writeHead(status, { 'content-type': type, ...more });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    visits,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
