import { setImmediate as nextTurn } from 'node:timers/promises';
import { byteGatherer } from '../../lib/byte-gatherer.js';
import { depthMeter, MAX_DEPTH } from '../../lib/depth.js';

const LF = 10;
const CR = 13;
const OPENING_BRACKET = 91;
/** Several messages in one body are all read before other work gets a turn. */
const MAX_ARRAY_BYTES = 1024 * 1024;

export interface BoundedFetchSettings {
  readonly maxBytes: number;
  /** Gets the reason why an answer was cut off. */
  readonly onBreak: (why: string) => void;
}

/**
 * `fetch` for a server that may answer without end: a body, or one event of a stream, is limited in bytes, and its
 * JSON in depth.
 */
export function boundedFetch({
  maxBytes,
  onBreak,
}: BoundedFetchSettings): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (!response.body) return response;
    const isStream = response.headers.get('content-type')?.includes('event-stream') ?? false;
    const look = isStream ? boundedEvents(maxBytes) : boundedBody(maxBytes);
    const isDeep = depthMeter(MAX_DEPTH);
    const bounds = new TransformStream<Uint8Array, Uint8Array>({
      async transform(piece, controller) {
        // A server that sends without end may not block our timers.
        await nextTurn();
        const { passed, fault } = look.take(piece);
        const why =
          fault ?? (isDeep(piece) ? `the answer is nested deeper than ${MAX_DEPTH} levels` : undefined);
        if (why === undefined) return controller.enqueue(passed);
        onBreak(why);
        controller.error(new Error(why));
      },
      flush: (controller) => controller.enqueue(look.rest()),
    });
    return new Response(response.body.pipeThrough(bounds), response);
  };
}

interface PieceCheck {
  take(piece: Uint8Array): { readonly passed: Uint8Array; readonly fault?: string | undefined };
  rest(): Uint8Array;
}

const NOTHING = new Uint8Array();
const beyond = (size: number, maxBytes: number) =>
  size > maxBytes ? `the answer has more than ${maxBytes} bytes` : undefined;

function boundedBody(maxBytes: number): PieceCheck {
  let size = 0;
  let limit: number | undefined;
  return {
    take(piece) {
      limit ??= piece[0] === OPENING_BRACKET ? MAX_ARRAY_BYTES : maxBytes;
      size += piece.length;
      return { passed: piece, fault: beyond(size, limit) };
    },
    rest: () => NOTHING,
  };
}

/** Passes on whole lines only: readers of streams search all that they hold after every new byte. */
function boundedEvents(maxBytes: number): PieceCheck {
  const held = byteGatherer();
  let event = 0;
  return {
    take(piece) {
      const end = lineEnd(piece);
      let passed: Uint8Array = NOTHING;
      if (end > 0) {
        held.add(piece.subarray(0, end));
        const lines = held.take();
        event = afterBlankLine(lines) ?? event + lines.length;
        passed = lines;
      }
      held.add(piece.subarray(end));
      return { passed, fault: beyond(event + held.size, maxBytes) };
    },
    rest: held.take,
  };
}

/** Where the last certain line end of a piece is; 0 if there is none. A CR at the very end may be half a CRLF. */
function lineEnd(piece: Uint8Array): number {
  return Math.max(piece.lastIndexOf(LF), piece.lastIndexOf(CR, -2)) + 1;
}

/** How many bytes follow the last blank line, which ends an event; undefined if there is none. */
function afterBlankLine(lines: Buffer): number | undefined {
  const last = Math.max(...['\n\n', '\n\r', '\r\r'].map((blank) => lines.lastIndexOf(blank)));
  if (last >= 0) return lines.length - last - 2;
  // What preceded these lines ended with a line.
  return lines[0] === LF || lines[0] === CR ? lines.length - 1 : undefined;
}
