import { errorInStream } from './error-body.js';

const NEWLINE = 10;

/** No answer is this long: whoever sends more is not a model. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/** Fields of server-sent events other than the data, and comments. */
const OTHER_FIELDS = /^(event|id|retry)?:/;

/**
 * Passes on the `data:` lines of an event stream, and the blank lines between events. The SDK drops an event that
 * begins with another field or a comment, without a word. `onData` sees each line of data. An error instead of an
 * answer, be it an event or plain JSON of many lines, is thrown as the SDK throws errors of a status.
 */
export async function* dataLines(
  stream: AsyncIterable<Buffer>,
  onData: (line: string) => void,
): AsyncGenerator<Buffer> {
  let plain = '';
  let previous = '';
  for await (const line of linesOf(stream)) {
    const text = line.toString('utf8').trimEnd();
    if (plain !== '' || /^[[{]/.test(text)) {
      // One that is whole in its first line need not be waited behind.
      if (plain === '') throwErrorIn(text);
      plain += `${text}\n`;
    } else if (text.startsWith('data:')) {
      if (text.includes('"error"')) throwErrorIn(text);
      // The same event twice is a fault on the way. To run its call twice would be worse than to run it once.
      const repeated = text === previous && text.includes('"functionCall"');
      previous = text;
      if (repeated) continue;
      onData(text);
      yield line;
    } else if (text === '') yield line;
    else if (!OTHER_FIELDS.test(text)) throw notEvents(text);
  }
  if (plain === '') return;
  throwErrorIn(plain);
  throw notEvents(plain);
}

/** Lines with their ends, as far as they have one. */
async function* linesOf(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  let total = 0;
  for await (const piece of stream) {
    total += piece.length;
    if (total > MAX_RESPONSE_BYTES) throw new SyntaxError('more than 64 MiB in one answer');
    const bytes = rest.length > 0 ? Buffer.concat([rest, piece]) : piece;
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      yield bytes.subarray(start, end + 1);
      start = end + 1;
    }
    rest = bytes.subarray(start);
  }
  if (rest.length > 0) yield rest;
}

function throwErrorIn(json: string): void {
  const error = errorInStream(json);
  if (error) throw error;
}

function notEvents(text: string): SyntaxError {
  return new SyntaxError(`not an event stream: ${text.slice(0, 100)}`);
}
