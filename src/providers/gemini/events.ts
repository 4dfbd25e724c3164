const NEWLINE = 10;

/** No answer is this long: whoever sends more is not a model. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/** Fields of server-sent events other than the data, and comments. */
const OTHER_FIELDS = /^(event|id|retry)?:/;

/**
 * Passes on the `data:` lines of an event stream, and the blank lines between events. The SDK drops an event that
 * begins with another field or a comment, without a word. `onData` sees each line of data.
 */
export async function* dataLines(
  stream: AsyncIterable<Buffer>,
  onData: (line: string) => void,
): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  let total = 0;
  for await (const piece of stream) {
    total += piece.length;
    if (total > MAX_RESPONSE_BYTES) throw new SyntaxError('more than 64 MiB in one answer');
    const bytes = rest.length > 0 ? Buffer.concat([rest, piece]) : piece;
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      const line = bytes.subarray(start, end + 1);
      if (isWanted(line, onData)) yield line;
      start = end + 1;
    }
    rest = bytes.subarray(start);
  }
  if (rest.length > 0 && isWanted(rest, onData)) yield rest;
}

function isWanted(line: Buffer, onData: (line: string) => void): boolean {
  const text = line.toString('utf8').trimEnd();
  if (text.startsWith('data:')) {
    onData(text);
    return true;
  }
  // An error may come as plain JSON; the SDK knows what to make of it.
  if (text === '' || text.startsWith('{')) return true;
  if (OTHER_FIELDS.test(text)) return false;
  throw new SyntaxError(`not an event stream: ${text.slice(0, 100)}`);
}
