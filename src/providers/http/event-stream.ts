import { StringDecoder } from 'node:string_decoder';

/** No answer is this long: whoever sends more is not a model. */
const MAX_BYTES = 64 * 1024 * 1024;

/** A line of an event stream: a field with its value, a comment, or the blank line that ends an event. */
const LINE = /^(data|event|id|retry)?(?:: ?(.*))?$/s;

/**
 * The data of each server-sent event, however the stream is cut. A body that is JSON and no stream at all is one
 * such datum: some servers do not stream, and errors may come like that even in the middle.
 */
export async function* eventData(stream: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let data: string[] = [];
  let body: string[] | undefined;
  let begun = false;
  for await (const line of linesOf(stream)) {
    if (body) {
      body.push(line);
      continue;
    }
    const found = LINE.exec(line);
    if (!found) {
      if (!/^\s*[{[]/.test(line)) throw new SyntaxError(`not an event stream: ${line.slice(0, 100)}`);
      if (begun) yield line;
      else body = [line];
      continue;
    }
    const [, field, value = ''] = found;
    if (field === 'data') {
      begun = true;
      data.push(value);
    } else if (line === '' && data.length > 0) {
      yield data.join('\n');
      data = [];
    }
  }
  if (body) yield body.join('\n');
  // The last event of a stream often lacks the blank line after it.
  if (data.length > 0) yield data.join('\n');
}

/** Lines that end in LF, CRLF or CR, wherever the pieces of the stream are cut. */
async function* linesOf(stream: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let bytes = 0;
  let unfinished: string[] = [];
  let afterReturn = false;
  let first = true;
  for await (const piece of stream) {
    bytes += piece.length;
    if (bytes > MAX_BYTES) throw new SyntaxError(`more than ${MAX_BYTES / 1024 / 1024} MiB in one answer`);
    let text = decoder.write(piece);
    if (text === '') continue;
    if (first && text.startsWith('\ufeff')) text = text.slice(1);
    first = false;
    const start = afterReturn && text.startsWith('\n') ? 1 : 0;
    afterReturn = text.endsWith('\r');
    const lines = text.slice(start).split(/\r\n|\n|\r/);
    const last = lines.pop() as string;
    for (const line of lines) {
      unfinished.push(line);
      yield unfinished.join('');
      unfinished = [];
    }
    if (last !== '') unfinished.push(last);
  }
  unfinished.push(decoder.end());
  const rest = unfinished.join('');
  if (rest !== '') yield rest;
}
