import type { Content } from '../../protocol/content.js';
import type { ModelFailure, ModelReply, ModelRequest, Provider } from '../../protocol/provider.js';
import type { ToolDeclaration } from '../../protocol/tool.js';
import { cutParts, isProse, plainContent } from './content.js';
import { parseAnswer } from './parse.js';
import { withoutThoughtTags } from './thoughts.js';
import { REMINDER, toolPrompt } from './prompt.js';

/**
 * Lets a model without function calling use tools: the system instruction describes them, and its calls are read
 * from its text. Callers see no difference.
 */
export function withTextTools(inner: Provider): Provider {
  const plain = cached(plainContent);
  const promptFor = cached(toolPrompt);
  const namesOf = cached((tools: readonly ToolDeclaration[]) => new Set(tools.map(({ name }) => name)));
  /** What was wrong with the last answer: the model does not see it again. */
  let fault: string | undefined;

  async function send(request: ModelRequest, signal: AbortSignal): Promise<ModelReply | ModelFailure> {
    const { system, contents, tools, hint } = request;
    const plainRequest = {
      ...request,
      system: tools.length > 0 ? `${system}\n\n${promptFor(tools)}` : system,
      contents: contents.map(plain),
      tools: [],
      ...(hint && { hint: [hint, fault && `What was wrong: ${fault}.`, REMINDER].filter(Boolean).join(' ') }),
    };
    const reply = await inner.send(plainRequest, signal);
    if (reply.type === 'failure' || tools.length === 0) return reply;
    const read = readReply(reply, namesOf(tools));
    fault = read.end === 'malformed_call' ? read.finishMessage : undefined;
    return read;
  }

  return { ...inner, send };
}

/** An answer with its calls as separate parts. An incomplete answer is not read. */
function readReply(reply: ModelReply, known: ReadonlySet<string>): ModelReply {
  if (reply.end !== 'stop') return reply;
  const { parts } = reply.content;
  const text = parts
    .filter(isProse)
    .map((part) => part.text)
    .join('');
  const parsed = parseAnswer(text, known);
  if ('fault' in parsed) {
    // The word by which a replayed transcript is understood.
    const finishReason = 'MALFORMED_FUNCTION_CALL';
    return { ...reply, end: 'malformed_call', finishReason, finishMessage: parsed.fault };
  }
  if (parsed.stretches.length === 0) return reply;
  const content: Content = { ...reply.content, parts: cutParts(parts, parsed.stretches) };
  const aloud = parsed.stretches.filter(({ calls }) => calls.length === 0);
  const thoughts = aloud.map(({ start, end }) => withoutThoughtTags(text.slice(start, end)));
  return {
    ...reply,
    content,
    ...(aloud.length > 0 && { thoughts: `${reply.thoughts ?? ''}${thoughts.join('')}` }),
  };
}

/** Translated once per object: a long history is not translated again every turn. */
function cached<In extends object, Out>(make: (from: In) => Out): (from: In) => Out {
  const made = new WeakMap<In, Out>();
  return (from) => {
    let out = made.get(from);
    if (out === undefined) {
      out = make(from);
      made.set(from, out);
    }
    return out;
  };
}
