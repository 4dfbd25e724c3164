import { StringDecoder } from 'node:string_decoder';
import { createParser } from 'eventsource-parser';

/** No model's answer is this long. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The data of a server-sent event, or a line that belongs to none. */
export type StreamPiece =
  { readonly type: 'data'; readonly text: string } | { readonly type: 'line'; readonly text: string };

/** The pieces of an event stream, however it is split. Comments and other fields are left out. */
export async function* streamPieces(stream: AsyncIterable<Buffer>): AsyncGenerator<StreamPiece> {
  const pieces: StreamPiece[] = [];
  const parser = createParser({
    onEvent: ({ data }) => pieces.push({ type: 'data', text: data }),
    onError: ({ type, line = '' }) => type === 'unknown-field' && pieces.push({ type: 'line', text: line }),
  });
  const decoder = new StringDecoder('utf8');
  let bytes = 0;
  let isFirst = true;
  for await (const piece of stream) {
    bytes += piece.length;
    if (bytes > MAX_BYTES) throw new SyntaxError(`more than ${MAX_BYTES / 1024 / 1024} MiB in one answer`);
    const text = decoder.write(piece);
    parser.feed(isFirst && text.startsWith('\ufeff') ? text.slice(1) : text);
    isFirst &&= text === '';
    if (pieces.length > 0) yield* pieces.splice(0);
  }
  // The last event of a stream often lacks the blank line after it.
  parser.feed(`${decoder.end()}\n\n`);
  yield* pieces;
}

/**
 * The data of each event. A body that is JSON and not a stream counts as one event: some servers do not stream, and
 * errors may come like that even in the middle.
 */
export async function* eventData(stream: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const body: string[] = [];
  let begun = false;
  for await (const { type, text } of streamPieces(stream)) {
    if (body.length > 0) body.push(text);
    else if (type === 'data') {
      begun = true;
      yield text;
    } else if (!/^\s*[{[]/.test(text)) throw notEvents(text);
    else if (begun) yield text;
    else body.push(text);
  }
  if (body.length > 0) yield body.join('\n');
}

export function notEvents(text: string): SyntaxError {
  return new SyntaxError(`not an event stream: ${text.slice(0, 100)}`);
}
