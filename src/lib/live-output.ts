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
  return [0, 1, 2, 3].every((cut) => decodeText(chunk.subarray(from, chunk.length - cut)) === undefined);
}

function characterStart(chunk: Buffer, at: number): number {
  let start = at;
  while (start < at + 3 && start < chunk.length && ((chunk[start] as number) & 0xc0) === 0x80) start++;
  return start;
}
