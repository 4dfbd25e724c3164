import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach } from '@jest/globals';

/** A line to a server that can be cut: bytes go nowhere then, and nobody is told. */
export interface CutLine {
  readonly port: number;
  cut(): void;
  heal(): void;
  /** Hangs up on whoever next says this, once the server has answered and before the answer is heard. */
  loseAnswerTo(word: string): Promise<void>;
  /** Calls somebody as soon as this was said so often, before the server hears it. */
  whenSaid(word: string, times: number, call: () => void): void;
}

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

export async function cutLine(to: number): Promise<CutLine> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let lost: { readonly word: string; readonly done: () => void } | undefined;
  let heard: { readonly word: string; times: number; readonly call: () => void } | undefined;
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    let hangUp: (() => void) | undefined;
    near.on('data', (bytes) => {
      if (heard && bytes.includes(heard.word) && --heard.times === 0) heard.call();
      if (!lost || !bytes.includes(lost.word)) return;
      hangUp = lost.done;
      lost = undefined;
    });
    far.on('data', () => {
      if (!hangUp) return;
      near.destroy();
      hangUp();
    });
    for (const [from, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => void (isCut || other.destroyed || other.write(bytes)));
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
    loseAnswerTo: (word) => new Promise((done) => void (lost = { word, done })),
    whenSaid: (word, times, call) => void (heard = { word, times, call }),
    heal() {
      isCut = false;
      // What was lost on the way makes the rest useless, as after any cut of some length.
      for (const socket of sockets) socket.destroy();
    },
  };
}
