import { createServer, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

export interface ProxyLog {
  readonly method: string;
  /** `host:port` of a CONNECT, or the whole URL of a plain request. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** Resolves when the client's connection is gone. */
  readonly closed: Promise<void>;
}

interface ProxyOptions {
  /** Answers every request with this status instead of passing it on. */
  readonly refuse?: number;
  /** Takes connections and requests, and never says anything. */
  readonly stall?: boolean;
  /** Opens the tunnel, and then passes nothing on. */
  readonly deaf?: boolean;
  /** Ports of this machine that stand for `host:port`s elsewhere. Any other name is the port itself. */
  readonly routes?: Readonly<Record<string, number>>;
}

/** A real proxy, except that every name leads to this machine. */
export async function startProxy(options: ProxyOptions = {}) {
  const requests: ProxyLog[] = [];
  const sockets = new Set<Socket>();
  let tellFirst = () => {};
  const first = new Promise<void>((resolve) => (tellFirst = resolve));
  const log = (method = '', target = '', headers: IncomingHttpHeaders, socket: Socket) => {
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    requests.push({ method, target, headers, closed });
    tellFirst();
  };

  const server = createServer((incoming, response) => {
    log(incoming.method, incoming.url, incoming.headers, incoming.socket);
    if (options.stall) return;
    if (options.refuse) {
      response.writeHead(options.refuse, { 'content-type': 'text/html' });
      response.end('<html><body>Proxy authentication required</body></html>');
      return;
    }
    const { port, pathname, search } = new URL(incoming.url ?? '');
    const onward = httpRequest({
      host: '127.0.0.1',
      port: port || 80,
      method: incoming.method,
      path: pathname + search,
      headers: incoming.headers,
    });
    onward.on('error', () => response.destroy());
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(onward);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  server.on('connect', (incoming, duplex) => {
    const client = duplex as Socket;
    log(incoming.method, incoming.url, incoming.headers, client);
    client.once('end', () => client.destroy());
    if (options.stall || options.deaf) client.resume();
    if (options.stall) return;
    if (options.refuse) {
      client.end(`HTTP/1.1 ${options.refuse} Refused\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    if (options.deaf) {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      return;
    }
    const target = incoming.url ?? '';
    const port = options.routes?.[target] ?? Number(/:(\d+)$/.exec(target)?.[1]);
    const onward = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(onward).pipe(client);
    });
    sockets.add(onward);
    onward.on('error', () => client.destroy());
    client.once('close', () => onward.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    host: `127.0.0.1:${port}`,
    url: `http://127.0.0.1:${port}`,
    requests,
    /** Resolves when the first request is there. */
    first,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
