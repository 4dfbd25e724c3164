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
  let rest: Buffer = Buffer.alloc(0);
  let total = 0;
  let plain = '';
  for await (const piece of stream) {
    total += piece.length;
    if (total > MAX_RESPONSE_BYTES) throw new SyntaxError('more than 64 MiB in one answer');
    const bytes = rest.length > 0 ? Buffer.concat([rest, piece]) : piece;
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      const line = bytes.subarray(start, end + 1);
      if (plain !== '' || isJson(line)) plain += plainJson(line);
      else if (isWanted(line, onData)) yield line;
      start = end + 1;
    }
    rest = bytes.subarray(start);
  }
  if (plain !== '' || isJson(rest))
    throw errorInStream(plain + rest.toString('utf8')) ?? notEvents(plain || rest);
  if (rest.length > 0 && isWanted(rest, onData)) yield rest;
}

const BRACES = ['{', '['].map((brace) => brace.charCodeAt(0));

function isJson([first = 0]: Buffer): boolean {
  return BRACES.includes(first);
}

/** A line of plain JSON. One that is a whole error need not be waited behind. */
function plainJson(line: Buffer): string {
  const text = line.toString('utf8');
  const error = isJson(line) ? errorInStream(text) : undefined;
  if (error) throw error;
  return text;
}

function isWanted(line: Buffer, onData: (line: string) => void): boolean {
  const text = line.toString('utf8').trimEnd();
  if (text.startsWith('data:')) {
    const error = text.includes('"error"') ? errorInStream(text) : undefined;
    if (error) throw error;
    onData(text);
    return true;
  }
  if (text === '') return true;
  if (OTHER_FIELDS.test(text)) return false;
  throw notEvents(text);
}

function notEvents(text: string | Buffer): SyntaxError {
  return new SyntaxError(`not an event stream: ${text.toString().slice(0, 100)}`);
}
