import type { LookupAddress } from 'node:dns';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { fixedLookup } from '../../lib/addresses.js';
import type { Target } from './target.js';

export interface TunnelOptions {
  readonly target: Target;
  readonly addresses: readonly LookupAddress[];
  /** What the program has already sent. */
  readonly head: Buffer;
  readonly connectMs: number;
  readonly idleMs: number;
  readonly onSocket: (socket: Socket) => void;
  readonly onFailure: (why: string, timedOut: boolean) => void;
}

/** Once one side has finished sending, the other is not waited for much longer. */
const HALF_OPEN_MS = 60_000;

/** Carries bytes both ways between a program and a server, and reads none of them. */
export function tunnel(client: Duplex, options: TunnelOptions): void {
  const { target, addresses, head, connectMs, idleMs } = options;
  const server = connect({
    host: target.host,
    port: target.port,
    lookup: fixedLookup(addresses),
    allowHalfOpen: true,
    noDelay: true,
  });
  options.onSocket(server);
  let joined = false;
  const late = setTimeout(() => {
    fail('no connection in time', true);
    server.destroy();
  }, connectMs);
  const fail = (why: string, timedOut: boolean) => {
    clearTimeout(late);
    if (joined) client.destroy();
    else options.onFailure(why, timedOut);
  };
  server.once('error', (error) => fail(error.message, false));
  client.once('close', () => {
    // Unless it is still sending the last of its data.
    if (!server.writableEnded) server.destroy();
  });
  server.once('connect', () => {
    clearTimeout(late);
    joined = true;
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) server.write(head);
    joinSockets(client as Socket, server, idleMs);
  });
}

function joinSockets(client: Socket, server: Socket, idleMs: number): void {
  for (const [from, to] of [
    [client, server],
    [server, client],
  ] as const) {
    from.pipe(to);
    from.setTimeout(idleMs, () => from.destroy());
    from.once('end', () => to.setTimeout(Math.min(idleMs, HALF_OPEN_MS)));
  }
  // Not destroyed: the last data may still be on its way.
  server.once('close', () => client.end());
}
