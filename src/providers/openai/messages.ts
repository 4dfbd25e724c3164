import type { Content, FunctionCall, FunctionResponse, Part } from '../../protocol/content.js';
import { callsOf, textOf } from '../../protocol/content.js';
import { carriedBy } from './carried.js';
import { mediaName, mediaPart, UnsupportedMedia } from './media.js';

type Message = Readonly<Record<string, unknown>>;

export interface Neighbours {
  readonly before: Content | undefined;
  readonly after: Content | undefined;
}

/** A content of the neutral history as chat messages. Calls and their answers must see each other. */
export function messagesOf(content: Content, { before, after }: Neighbours, thoughts: boolean): Message[] {
  if (content.role === 'model') return [assistantMessage(content, callIds(content, after), thoughts)];
  const ids = before?.role === 'model' ? callIds(before, content) : [];
  const responses = responsesOf(content);
  const rest = content.parts.filter((part) => !part.functionResponse);
  return [
    ...responses.map((response, i) => toolMessage(response, ids[i])),
    ...(rest.length > 0 ? [userMessage(rest, responses.length > 0)] : []),
  ];
}

function responsesOf(content: Content | undefined): FunctionResponse[] {
  return content?.parts.flatMap(({ functionResponse }) => functionResponse ?? []) ?? [];
}

/**
 * The id under which each call of a turn is answered: the model's own, else its answer's. A duplicate id in the
 * turn is made unique. Both sides of a pair are written with the same list.
 */
function callIds(content: Content, answer: Content | undefined): string[] {
  const responses = responsesOf(answer);
  const used = new Set<string>();
  return callsOf(content).map((call, i) => {
    let id = call.id || responses[i]?.id || `call_${i}`;
    while (used.has(id)) id = `${id}_${i}`;
    used.add(id);
    return id;
  });
}

function assistantMessage(content: Content, ids: readonly string[], thoughts: boolean): Message {
  const text = textOf(content.parts);
  const calls = content.parts.filter((part) => part.functionCall);
  const toolCalls = calls.map((part, i) => toolCall(part, ids[i] as string));
  return {
    ...(thoughts && Object.assign({}, ...content.parts.map((part) => carriedBy(part).thoughts))),
    role: 'assistant',
    content: text === '' && toolCalls.length > 0 ? null : text,
    ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
  };
}

function toolCall(part: Part, id: string): Message {
  const { name, args = {} } = part.functionCall as FunctionCall;
  const carried = carriedBy(part);
  return {
    ...carried.call,
    id,
    type: 'function',
    function: { name, arguments: carried.arguments ?? JSON.stringify(args) },
  };
}

/** The output as the tool returned it; an error as an object, so that it cannot be mistaken for output. */
function toolMessage({ id, response }: FunctionResponse, callId = id ?? ''): Message {
  const { output } = response;
  const content = typeof output === 'string' ? output : JSON.stringify(output ?? response);
  return { role: 'tool', tool_call_id: callId, content };
}

/** Plain text is sent as such: not every server accepts lists of parts. */
function userMessage(parts: readonly Part[], fromTools: boolean): Message {
  if (parts.every((part) => part.text !== undefined)) {
    return { role: 'user', content: parts.map((part) => part.text).join('\n\n') };
  }
  const content = parts.map((part) => userPart(part, fromTools));
  const label = { type: 'text', text: 'Attached by the tool calls above:' };
  return { role: 'user', content: fromTools ? [label, ...content] : content };
}

function userPart(part: Part, fromTools: boolean): object {
  if (part.text !== undefined) return { type: 'text', text: part.text };
  const media = part.inlineData && mediaPart(part.inlineData);
  if (media) return media;
  // What the user attached may not get lost silently; the model can do without what a tool found.
  if (!fromTools) throw new UnsupportedMedia(mediaName(part));
  return { type: 'text', text: `[${mediaName(part)}: left out, as it cannot be shown to you]` };
}
