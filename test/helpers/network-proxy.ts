import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach } from '@jest/globals';
import type { NetworkDecision } from '../../src/protocol/event.js';
import { startProxy, type ProxyOptions } from '../../src/sandbox/network/proxy.js';
import { guard } from './web.js';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

/** Closes something after the test. */
export function after<T extends { close(): unknown }>(opened: T): T {
  cleanUps.push(() => opened.close());
  return opened;
}

/** The proxy on an ordinary loopback port. `*.test` leads to loopback. */
export async function proxy(allow: readonly string[], options: Partial<ProxyOptions> = {}) {
  const decisions: NetworkDecision[] = [];
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as AddressInfo;
  const started = startProxy(listener, {
    guard: guard(allow),
    onDecision: (decision) => decisions.push(decision),
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    ...options,
  });
  const sockets = new Set<Socket>();
  cleanUps.push(() => {
    for (const socket of sockets) socket.destroy();
    started.close();
  });
  const open = () => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    sockets.add(socket);
    socket.on('error', () => {});
    return socket;
  };
  return {
    port,
    decisions,
    close: started.close,
    open,
    /** Sends some bytes, and gets all that comes back until the connection is closed. */
    exchange(bytes: string | Buffer): Promise<string> {
      const socket = open();
      socket.write(bytes);
      return allOf(socket);
    },
  };
}

/** Everything that comes over a connection until it is closed. */
export function allOf(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    socket.once('end', () => socket.end());
    socket.once('close', () => resolve(text));
  });
}

/** Opens a tunnel; resolves when it is there. */
export async function tunnelTo(socket: Socket, authority: string): Promise<Socket> {
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
  const head = await new Promise<string>((resolve) =>
    socket.once('data', (chunk: Buffer) => resolve(chunk.toString('latin1'))),
  );
  if (head !== 'HTTP/1.1 200 Connection established\r\n\r\n') throw new Error(head);
  return socket;
}
