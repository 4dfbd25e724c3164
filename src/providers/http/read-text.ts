import type { IncomingMessage } from 'node:http';

/** An error page is quoted, not stored. */
const MAX_BYTES = 1024 * 1024;

/** The body of an answer that is expected to be short. */
export async function readText(message: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of message) {
    pieces.push(piece as Buffer);
    bytes += (piece as Buffer).length;
    if (bytes > MAX_BYTES) break;
  }
  return Buffer.concat(pieces).toString('utf8');
}
