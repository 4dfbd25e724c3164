const NEWLINE = 10;

export interface LineHandlers {
  readonly onLine: (line: string) => void;
  /** A line grew beyond the limit; what is left of it is skipped. */
  readonly onTooLong: () => void;
}

/** Cuts a stream of bytes into lines, and never holds more of one than the limit. */
export function lineSplitter(maxBytes: number, { onLine, onTooLong }: LineHandlers): (chunk: Buffer) => void {
  let held: Buffer[] = [];
  let size = 0;
  let skipping = false;

  const take = (piece: Buffer, isEnd: boolean) => {
    if (!skipping && size + piece.length > maxBytes) {
      skipping = true;
      held = [];
      onTooLong();
    }
    if (!skipping) {
      held.push(piece);
      size += piece.length;
    }
    if (!isEnd) return;
    if (!skipping) onLine(Buffer.concat(held).toString('utf8').replace(/\r$/, ''));
    held = [];
    size = 0;
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
