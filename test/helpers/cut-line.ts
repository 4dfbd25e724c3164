import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach } from '@jest/globals';

/** A line to a server that can be cut: bytes go nowhere then, and nobody is told. */
export interface CutLine {
  readonly port: number;
  cut(): void;
  heal(): void;
}

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

export async function cutLine(to: number): Promise<CutLine> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    for (const [from, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => void (isCut || other.write(bytes)));
      from.on('error', () => other.destroy());
      from.on('close', () => {
        sockets.delete(from);
        if (!isCut) other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => void (isCut = true),
    heal() {
      isCut = false;
      // What was lost on the way makes the rest useless, as after any cut of some length.
      for (const socket of sockets) socket.destroy();
    },
  };
}
