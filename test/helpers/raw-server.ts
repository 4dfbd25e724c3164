import { createServer, type AddressInfo, type Socket } from 'node:net';

/** One TCP connection as the server saw it. */
export interface Connection {
  readonly socket: Socket;
  /** The requests that came over it, head and body, as text. */
  readonly requests: string[];
  /** Resolves when the connection is gone, whoever closed it. */
  readonly closed: Promise<void>;
}

type Answer = (connection: Connection, index: number) => void;

/** A server below HTTP: it decides about every byte, and sees every connection come and go. */
export async function startRawServer(answer: Answer) {
  const connections: Connection[] = [];
  const waiting: { count: number; tell: () => void }[] = [];
  let received = 0;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    const connection: Connection = { socket, requests: [], closed };
    connections.push(connection);
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
      for (let end = requestEnd(text); end !== undefined; end = requestEnd(text)) {
        connection.requests.push(Buffer.from(text.slice(0, end), 'latin1').toString('utf8'));
        text = text.slice(end);
        answer(connection, received++);
        for (const { count, tell } of waiting) if (received >= count) tell();
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    connections,
    /** Resolves when this many requests have come, over whatever connections. */
    received: (count: number) =>
      new Promise<void>((tell) => (received >= count ? tell() : waiting.push({ count, tell }))),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const { socket } of connections) socket.destroy();
      }),
  };
}

function requestEnd(text: string): number | undefined {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return undefined;
  const length = Number(/^content-length: *(\d+)/im.exec(text.slice(0, head))?.[1] ?? 0);
  const end = head + 4 + length;
  return text.length >= end ? end : undefined;
}

export const SSE_HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';

/** A piece of a chunked body. */
export function chunk(bytes: string | Buffer): Buffer {
  const body = Buffer.from(bytes as string);
  return Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n')]);
}

export const LAST_CHUNK = '0\r\n\r\n';

/** An event of the Gemini API with some text, the last of its stream unless told otherwise. */
export function event(text: string, finishReason: string | undefined = 'STOP'): string {
  const candidate = { content: { role: 'model', parts: [{ text }] }, ...(finishReason && { finishReason }) };
  return `data: ${JSON.stringify({ candidates: [candidate] })}\r\n\r\n`;
}

/** A whole answer. */
export function answerWith(text: string): Buffer {
  return Buffer.concat([Buffer.from(SSE_HEAD), chunk(event(text)), Buffer.from(LAST_CHUNK)]);
}
