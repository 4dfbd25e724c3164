import { attempt } from '../../lib/attempt.js';
import { notEvents, streamPieces } from '../http/event-stream.js';
import { errorInStream } from './error-body.js';
import type { ResponseChunk } from './response.js';

/**
 * Passes on the data of an event stream, one event at a time. The SDK silently drops an event that begins with another
 * field or a comment, and searches all it holds for each new line. `onData` sees the data of each event. An error
 * instead of an answer, as an event or as plain JSON of many lines, is thrown like the SDK throws errors of a status.
 */
export async function* dataLines(
  stream: AsyncIterable<Buffer>,
  onData: (data: string) => void,
): AsyncGenerator<Buffer> {
  const plain: string[] = [];
  let previous = '';
  for await (const { type, text } of streamPieces(stream)) {
    if (plain.length > 0 || type === 'line') {
      if (plain.length === 0 && !/^[[{]/.test(text)) throw notEvents(text);
      // One that is whole in its first line needs no further lines.
      if (plain.length === 0) throwErrorIn(text);
      plain.push(text);
      continue;
    }
    if (text.includes('"error"')) throwErrorIn(text);
    // Ids prove that the same event came twice. Without them it may be the same call made twice.
    const repeated = text === previous && hasOnlyNamedCalls(text);
    previous = text;
    if (repeated) continue;
    onData(text);
    yield Buffer.from(`data: ${text.replaceAll('\n', '\ndata: ')}\n\n`);
  }
  if (plain.length === 0) return;
  throwErrorIn(plain.join('\n'));
  throw notEvents(plain.join('\n'));
}

/** Whether an event has calls, and each of them an id. */
function hasOnlyNamedCalls(data: string): boolean {
  if (!data.includes('"functionCall"')) return false;
  const chunk = attempt(() => JSON.parse(data) as ResponseChunk | null);
  const parts = attempt(() => chunk?.candidates?.[0]?.content?.parts?.filter((part) => part.functionCall));
  return parts !== undefined && parts.length > 0 && parts.every((part) => part.functionCall?.id);
}

function throwErrorIn(json: string): void {
  const error = errorInStream(json);
  if (error) throw error;
}
