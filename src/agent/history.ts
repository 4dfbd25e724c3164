import { isRecord } from '../lib/record.js';
import { callsOf, type Content, type FunctionCall, type Part } from '../protocol/content.js';

/** What is sent to the model. Append-only. */
export type History = readonly Content[];

export function startHistory(task: readonly Part[]): History {
  return [{ role: 'user', parts: task }];
}

/** An answer without parts leaves no trace: the API takes no empty content. */
export function append(history: History, content: Content): History {
  return content.parts.length === 0 ? history : [...history, content];
}

/** What was recorded elsewhere may hold a secret of this run. The model's own words stay as they are. */
export function redactedHistory(history: History, redact: (content: Content) => Content): History {
  return history.map((content) => (content.role === 'user' ? redact(content) : content));
}

/** Contents found valid, each with the one before it: a history only grows, and is checked every turn. */
const sound = new WeakMap<Content, Content | null>();

/** The rules that the API enforces with an error 400: which one is broken, or undefined. */
export function historyFault(history: History): string | undefined {
  if (history[0]?.role !== 'user') return 'the history does not begin with the user';
  if (history.at(-1)?.role !== 'user') return 'the history does not end with the user';
  let previous: Content | null = null;
  for (const [i, content] of history.entries()) {
    if (sound.get(content) !== previous) {
      const fault = contentFault(previous, content);
      if (fault) return `content ${i}${fault}`;
      sound.set(content, previous);
    }
    previous = content;
  }
  return undefined;
}

function contentFault(previous: Content | null, content: Content): string | undefined {
  if (!content.parts.some((part) => Object.keys(part).length > 0)) return ' is empty';
  const calls = previous?.role === 'model' ? callsOf(previous) : [];
  const fault = content.role === 'user' ? responseFault(calls, content) : callFault(calls, content);
  return fault && `: ${fault}`;
}

function responseFault(calls: readonly FunctionCall[], content: Content): string | undefined {
  const responses = content.parts.flatMap(({ functionResponse }) => functionResponse ?? []);
  if (responses.length !== calls.length) return `${calls.length} calls have ${responses.length} responses`;
  for (const [i, call] of calls.entries()) {
    const response = responses[i];
    if (response?.name !== call.name) return `call ${call.name} is answered by ${response?.name}`;
    if (call.id !== undefined && response.id !== call.id)
      return `call ${call.id} is answered by ${response.id}`;
    if (!isRecord(response.response)) return `the response to ${call.name} is not an object`;
  }
  return undefined;
}

function callFault(unanswered: readonly FunctionCall[], content: Content): string | undefined {
  if (unanswered.length > 0) return 'the calls before it have no responses';
  return content.parts.some((part) => part.functionResponse) ? 'the model answers a call' : undefined;
}
