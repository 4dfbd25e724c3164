import { byteGatherer } from './byte-gatherer.js';

const NEWLINE = 10;

export interface LineHandlers {
  readonly onLine: (line: string) => void;
  /** A line exceeded the limit; the rest of it is skipped. */
  readonly onTooLong: () => void;
}

/** Splits a stream of bytes into lines, and never holds more of one than the limit. */
export function lineSplitter(maxBytes: number, { onLine, onTooLong }: LineHandlers): (chunk: Buffer) => void {
  const held = byteGatherer();
  let skipping = false;

  const take = (piece: Buffer, isEnd: boolean) => {
    if (!skipping && held.size + piece.length > maxBytes) {
      skipping = true;
      held.take();
      onTooLong();
    }
    if (!skipping && (!isEnd || held.size > 0)) held.add(piece);
    if (!isEnd) return;
    const line = held.size > 0 ? held.take() : piece;
    if (!skipping) onLine(line.toString('utf8').replace(/\r$/, ''));
    skipping = false;
  };

  return (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      take(chunk.subarray(start, end), true);
      start = end + 1;
    }
    if (start < chunk.length) take(chunk.subarray(start), false);
  };
}
