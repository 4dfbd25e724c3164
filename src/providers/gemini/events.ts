import { attempt } from '../../lib/attempt.js';
import { byteGatherer } from '../../lib/byte-gatherer.js';
import { errorInStream } from './error-body.js';
import type { ResponseChunk } from './response.js';

const NEWLINE = 10;

/** No answer is this long: whoever sends more is not a model. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/** Fields of server-sent events other than the data, and comments. */
const OTHER_FIELDS = /^(event|id|retry)?:/;

/**
 * Passes on the `data:` lines of an event stream, an event at a time. The SDK drops an event that begins with another
 * field or a comment, without a word, and looks through all that it holds whenever it gets a line more. `onData` sees
 * each line of data. An error instead of an answer, be it an event or plain JSON of many lines, is thrown as the SDK
 * throws errors of a status.
 */
export async function* dataLines(
  stream: AsyncIterable<Buffer>,
  onData: (line: string) => void,
): AsyncGenerator<Buffer> {
  const plain: string[] = [];
  let event: Buffer[] = [];
  let previous = '';
  for await (const line of linesOf(stream)) {
    const text = line.toString('utf8').trimEnd();
    if (plain.length > 0 || /^[[{]/.test(text)) {
      // One that is whole in its first line need not be waited behind.
      if (plain.length === 0) throwErrorIn(text);
      plain.push(`${text}\n`);
    } else if (text.startsWith('data:')) {
      if (text.includes('"error"')) throwErrorIn(text);
      // Ids prove that the same event came twice. Without them it may be the same call made twice.
      const repeated = text === previous && hasOnlyNamedCalls(text);
      previous = text;
      if (repeated) continue;
      onData(text);
      event.push(line);
    } else if (text === '') {
      yield Buffer.concat([...event, line]);
      event = [];
    } else if (!OTHER_FIELDS.test(text)) throw notEvents(text);
  }
  if (event.length > 0) yield Buffer.concat(event);
  if (plain.length === 0) return;
  throwErrorIn(plain.join(''));
  throw notEvents(plain.join(''));
}

/** Whether an event has calls, and each of them an id. */
function hasOnlyNamedCalls(line: string): boolean {
  if (!line.includes('"functionCall"')) return false;
  const chunk = attempt(() => JSON.parse(line.slice('data:'.length)) as ResponseChunk | null);
  const parts = attempt(() => chunk?.candidates?.[0]?.content?.parts?.filter((part) => part.functionCall));
  return parts !== undefined && parts.length > 0 && parts.every((part) => part.functionCall?.id);
}

/** Lines with their ends, as far as they have one. Each byte is looked at once, however small the pieces are. */
async function* linesOf(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const rest = byteGatherer();
  let total = 0;
  for await (const piece of stream) {
    total += piece.length;
    if (total > MAX_RESPONSE_BYTES) throw new SyntaxError('more than 64 MiB in one answer');
    let start = 0;
    for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, start)) {
      const line = piece.subarray(start, end + 1);
      start = end + 1;
      if (rest.size === 0) yield line;
      else {
        rest.add(line);
        yield rest.take();
      }
    }
    rest.add(piece.subarray(start));
  }
  if (rest.size > 0) yield rest.take();
}

function throwErrorIn(json: string): void {
  const error = errorInStream(json);
  if (error) throw error;
}

function notEvents(text: string): SyntaxError {
  return new SyntaxError(`not an event stream: ${text.slice(0, 100)}`);
}
