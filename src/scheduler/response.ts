import { isRecord } from '../lib/record.js';
import type { CallResult } from '../protocol/call.js';
import { textOf, type Content, type FunctionResponse, type Part } from '../protocol/content.js';
import type { ToolContent } from '../protocol/tool.js';

/** What a call's result keeps of its tool's return value. */
export interface Converted {
  readonly output: Output;
  readonly media?: readonly Part[];
}
type Output = NonNullable<CallResult['output']>;

/** Converts every shape a tool may return to one: an output (text or object) and its media. */
export function convertContent(content: ToolContent): Converted {
  if (typeof content === 'string') return { output: content };
  const parts: readonly Part[] = Array.isArray(content) ? content : [content as Part];
  const ready = parts.find((part) => part.functionResponse);
  const media = parts.filter(isMedia);
  const output = ready ? objectOf(ready.functionResponse as FunctionResponse) : describe(parts, media);
  return media.length > 0 ? { output, media } : { output };
}

function isMedia(part: Part): boolean {
  return part.inlineData !== undefined || part['fileData'] !== undefined;
}

/** A ready-made response is unwrapped, so that there is no output inside an output. */
function objectOf({ response }: FunctionResponse): Output {
  const inner = response['output'];
  if (typeof inner === 'string') return inner;
  return isRecord(inner) ? inner : response;
}

function describe(parts: readonly Part[], media: readonly Part[]): string {
  const text = textOf(parts);
  if (text || media.length === 0) return text;
  const types = media.map((part) => part.inlineData?.mimeType ?? 'a file');
  return `Attached: ${types.join(', ')}.`;
}

/** The one message that answers all calls of a turn, in the order of the calls; notices come last. */
export function responseContent(results: readonly CallResult[], notices: readonly string[] = []): Content {
  return {
    role: 'user',
    parts: [...results.map(responsePart), ...ownedMedia(results), ...notices.map((text) => ({ text }))],
  };
}

/** Media follow all responses, so each gets a number, what it shows, and the call that returned it. */
function ownedMedia(results: readonly CallResult[]): Part[] {
  let number = 0;
  return results.flatMap(({ call, media = [] }, i) =>
    media.flatMap(({ mediaName, ...part }) => {
      number++;
      const owner = `call ${i + 1}, ${call.name}`;
      return [{ text: `[${number}] ${mediaName === undefined ? owner : `${mediaName} (${owner})`}` }, part];
    }),
  );
}

function responsePart({ call, output = '', error }: CallResult): Part {
  const response = error ? { error: error.message, type: error.type } : { output };
  return { functionResponse: { id: call.wireId, name: call.name, response } };
}
