import { connect, type AddressInfo, type Socket } from 'node:net';
import { createServer } from 'node:tls';

/** Puts TLS in front of a server on this machine. */
export async function startTlsFront(port: number, { key, cert }: { key: Buffer; cert: Buffer }) {
  const sockets = new Set<Socket>();
  const server = createServer({ key, cert }, (secure) => {
    const onward = connect(port, '127.0.0.1');
    for (const socket of [secure, onward]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
    secure.pipe(onward).pipe(secure);
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port: own } = server.address() as AddressInfo;
  return {
    port: own,
    url: `https://localhost:${own}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
