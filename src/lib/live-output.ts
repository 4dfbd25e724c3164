import { isUtf8 } from 'node:buffer';
import { StringDecoder } from 'node:string_decoder';
import { decodeText } from './encoding.js';

/** How much of each chunk is shown. */
const MOST = 2000;

export const BINARY_MARK = '[binary output, not shown]\n';

export interface LiveOutput {
  push(bytes: Uint8Array): void;
  /** Shows what is left of a character that never came to its end. */
  end(): void;
}

/** Shows output while it comes: the end of each chunk, how much was left out before it, and no binary data. */
export function liveOutput(show: (text: string) => void): LiveOutput {
  let decoder = new StringDecoder('utf8');
  let isBinary = false;
  const pass = (text: string) => {
    if (text !== '') show(text);
  };

  return {
    push(bytes) {
      if (isBinary || bytes.length === 0) return;
      const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      isBinary = looksBinary(chunk);
      if (isBinary) return show(BINARY_MARK);
      const from = chunk.length > MOST ? characterStart(chunk, chunk.length - MOST) : 0;
      if (from > 0) {
        decoder = new StringDecoder('utf8');
        show(`[… ${from} bytes not shown …]\n`);
      }
      pass(decoder.write(chunk.subarray(from)));
    },
    end: () => (isBinary ? undefined : pass(decoder.end())),
  };
}

/** A chunk may begin and end in the middle of a character. */
function looksBinary(chunk: Buffer): boolean {
  if (chunk.includes(0)) return true;
  const from = characterStart(chunk, 0);
  const parts = [0, 1, 2, 3].map((cut) => chunk.subarray(from, chunk.length - cut));
  // Most output is UTF-8, which is told without making a text of it: long output would grow the heap for nothing.
  return !parts.some((part) => isUtf8(part)) && parts.every((part) => decodeText(part) === undefined);
}

function characterStart(chunk: Buffer, at: number): number {
  let start = at;
  while (start < at + 3 && start < chunk.length && ((chunk[start] as number) & 0xc0) === 0x80) start++;
  return start;
}
