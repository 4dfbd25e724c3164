import { isUtf8 } from 'node:buffer';
import { StringDecoder } from 'node:string_decoder';
import { decodeText } from './encoding.js';

/** How much of each chunk is shown. */
const MOST = 2000;
/** How much is shown at a time. It stays in memory until it has been read. */
const ROOM = 16_000;
const MOMENT_MS = 100;

export const BINARY_MARK = '[binary output, not shown]\n';

export interface LiveOutput {
  push(bytes: Uint8Array): void;
  /** Shows what did not fit before, and the rest of an incomplete character. */
  end(): void;
}

/** Shows output as it comes: the end of each chunk, how much was left out before it, and no binary data. */
export function liveOutput(show: (text: string) => void): LiveOutput {
  let decoder = new StringDecoder('utf8');
  let isBinary = false;
  let room = ROOM;
  let moment: NodeJS.Timeout | undefined;
  /** The last chunk that did not fit, and how many bytes were left out before it. */
  let held: Buffer | undefined;
  let leftOut = 0;

  const pass = (text: string) => {
    if (text !== '') show(text);
  };

  function showEnd(chunk: Buffer): void {
    const isCut = chunk.length > MOST || leftOut > 0;
    const from = isCut ? characterStart(chunk, Math.max(0, chunk.length - MOST)) : 0;
    if (isCut) {
      decoder = new StringDecoder('utf8');
      show(`[… ${leftOut + from} bytes not shown …]\n`);
      leftOut = 0;
    }
    room -= chunk.length - from;
    moment ??= setTimeout(refill, MOMENT_MS).unref();
    pass(decoder.write(chunk.subarray(from)));
  }

  function refill(): void {
    moment = undefined;
    room = ROOM;
    showHeld();
  }

  function showHeld(): void {
    const chunk = held;
    held = undefined;
    if (chunk && !isBinary) showEnd(chunk);
  }

  return {
    push(bytes) {
      if (isBinary || bytes.length === 0) return;
      const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      isBinary = looksBinary(chunk);
      if (isBinary) return show(BINARY_MARK);
      if (room > 0) return showEnd(chunk);
      leftOut += held?.length ?? 0;
      held = chunk;
    },
    end() {
      showHeld();
      clearTimeout(moment);
      if (!isBinary) pass(decoder.end());
    },
  };
}

/** A chunk may begin and end in the middle of a character. */
function looksBinary(chunk: Buffer): boolean {
  if (chunk.includes(0)) return true;
  const from = characterStart(chunk, 0);
  const parts = [0, 1, 2, 3].map((cut) => chunk.subarray(from, chunk.length - cut));
  // Most output is UTF-8, which can be tested without making a string: long output would only grow the heap.
  return !parts.some((part) => isUtf8(part)) && parts.every((part) => decodeText(part) === undefined);
}

function characterStart(chunk: Buffer, at: number): number {
  let start = at;
  while (start < at + 3 && start < chunk.length && ((chunk[start] as number) & 0xc0) === 0x80) start++;
  return start;
}
