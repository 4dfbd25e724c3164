import { lineSplitter } from '../../lib/line-splitter.js';
import { oneLine } from '../../lib/text.js';
import type { RunningServer, ServerRequest, StartServer } from '../../protocol/process.js';
import type { JSONRPCMessage, Transport } from './sdk.js';

export interface StdioSettings extends Pick<ServerRequest, 'command' | 'directory' | 'environment'> {
  readonly startServer: StartServer;
  readonly maxBytes: number;
  /** A line that the server wrote to stderr, or by mistake to stdout. */
  readonly onNoise: (line: string) => void;
  readonly onEnd: (how: string) => void;
}

const MAX_NOISE_BYTES = 64 * 1024;

/** Starts a program, and exchanges lines of JSON with it. Other output is ignored. */
export function stdioTransport(settings: StdioSettings): Transport {
  const { command, directory, environment, maxBytes, onNoise } = settings;
  const asked = new Set<string | number>();
  let closed = false;

  const server: Promise<RunningServer> = settings.startServer({
    command,
    directory,
    environment,
    onOutput: lineSplitter(maxBytes, { onLine: receive, onTooLong: giveUp }),
    onErrorOutput: lineSplitter(MAX_NOISE_BYTES, {
      onLine: (line) => line.trim() && onNoise(line),
      onTooLong: () => onNoise('(a line that is too long)'),
    }),
    onEnd: (how) => {
      settings.onEnd(how);
      end();
    },
  });
  // The pending start rejects.
  server.catch(() => {});

  const transport: Transport = {
    async start() {
      await server;
      // It may have ended before anyone listened.
      if (closed) throw new Error('it has ended');
    },
    async send(message) {
      if ('id' in message && 'method' in message) asked.add(message.id);
      await (await server).write(`${JSON.stringify(message)}\n`);
    },
    async close() {
      const running = await server.catch(() => undefined);
      await running?.stop();
      end();
    },
  };

  function end(): void {
    if (closed) return;
    closed = true;
    transport.onclose?.();
  }

  function receive(line: string): void {
    if (line.trim() === '') return;
    const message = messageIn(line);
    if (!message) {
      onNoise(line);
      return;
    }
    if ('id' in message && !('method' in message)) asked.delete(message.id as string);
    transport.onmessage?.(message);
  }

  /** It is unknown whose answer it was: all waiting callers are told. */
  function giveUp(): void {
    const error = { code: -32_000, message: `it sent a message of more than ${maxBytes} bytes` };
    for (const id of asked) transport.onmessage?.({ jsonrpc: '2.0', id, error });
    asked.clear();
  }

  return transport;
}

/** Terminal sequences before a message are not part of it. */
function messageIn(line: string): JSONRPCMessage | undefined {
  const start = line.indexOf('{');
  if (start < 0 || (start > 0 && oneLine(line.slice(0, start)) !== '')) return undefined;
  try {
    const value = JSON.parse(line.slice(start)) as Partial<JSONRPCMessage> | null;
    return value?.jsonrpc === '2.0' ? (value as JSONRPCMessage) : undefined;
  } catch {
    return undefined;
  }
}
