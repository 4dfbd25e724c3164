import type { Content } from '../../protocol/content.js';
import type { ModelRequest, ModelSettings } from '../../protocol/provider.js';
import type { JsonSchema } from '../../protocol/tool.js';
import { carriedBy } from './carried.js';
import { messagesOf } from './messages.js';
import { otherLength, settingFields, type LengthField } from './settings.js';

/** What a server may not support, and can be left out. */
export interface Dialect {
  /** Ask for the tokens of a streamed answer. */
  readonly usage: boolean;
  /** Send the model's own thoughts back to it. */
  readonly thoughts: boolean;
  /** Ask for an answer of a shape by its schema. */
  readonly schema: boolean;
  /** The field for the longest answer. */
  readonly length: LengthField;
  /** It had another name before; there is no third. */
  readonly renamed?: true;
}

const COMMA = Buffer.from(',');

/** Writes requests. Each content is serialised once, not again every turn of a long history. */
export function createRequestWriter(model: string, settings: ModelSettings) {
  const withThoughts = new WeakMap<Content, Buffer>();
  const without = new WeakMap<Content, Buffer>();

  function bytesOf(contents: readonly Content[], i: number, thoughts: boolean): Buffer {
    const written = thoughts ? withThoughts : without;
    const content = contents[i] as Content;
    let bytes = written.get(content);
    if (!bytes) {
      const neighbours = { before: contents[i - 1], after: contents[i + 1] };
      const messages = messagesOf(content, neighbours, thoughts);
      bytes = Buffer.from(messages.map((message) => JSON.stringify(message)).join(','));
      written.set(content, bytes);
    }
    return bytes;
  }

  return (request: ModelRequest, dialect: Dialect): Buffer[] => {
    const { system, hint, contents, tools, answerSchema } = request;
    const instruction = { role: 'system', content: hint ? `${system}\n\n${hint}` : system };
    const pieces: Buffer[] = [
      Buffer.from(`{"model":${JSON.stringify(model)},"messages":[${JSON.stringify(instruction)}`),
    ];
    for (const i of contents.keys()) pieces.push(COMMA, bytesOf(contents, i, dialect.thoughts));
    const rest = {
      ...(tools.length > 0 && { tools: tools.map(asFunction) }),
      ...(answerSchema && dialect.schema && { response_format: answerFormat(answerSchema) }),
      ...settingFields(settings, dialect.length),
      stream: true,
      ...(dialect.usage && { stream_options: { include_usage: true } }),
    };
    pieces.push(Buffer.from(`],${JSON.stringify(rest).slice(1)}`));
    return pieces;
  };
}

function asFunction({ name, description, parameters }: ModelRequest['tools'][number]) {
  return { type: 'function', function: { name, description, parameters } };
}

function answerFormat(schema: JsonSchema) {
  return { type: 'json_schema', json_schema: { name: 'answer', schema } };
}

/** What to leave out of the next request, if the server complains about it; undefined if it does not. */
export function simplerDialect(
  dialect: Dialect,
  { contents, answerSchema }: ModelRequest,
  httpStatus: number,
  said: string,
): Dialect | undefined {
  if (httpStatus !== 400 && httpStatus !== 422) return undefined;
  if (dialect.usage && /stream_options|include_usage/.test(said)) return { ...dialect, usage: false };
  const length = dialect.renamed ? undefined : otherLength(dialect.length, said);
  if (length) return { ...dialect, length, renamed: true };
  if (dialect.schema && answerSchema && /response_format|json_schema/.test(said))
    return { ...dialect, schema: false };
  const sentThoughts =
    dialect.thoughts && contents.some(({ parts }) => parts.some((part) => carriedBy(part).thoughts));
  return sentThoughts && /\breasoning/.test(said) ? { ...dialect, thoughts: false } : undefined;
}
