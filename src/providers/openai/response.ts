import { isDeeperThan, MAX_DEPTH } from '../../lib/depth.js';
import { oneLine } from '../../lib/text.js';
import type { Part } from '../../protocol/content.js';
import type { ModelFailure, ModelReply } from '../../protocol/provider.js';
import { unavailable } from '../failure.js';
import { chatEndOf } from '../finish.js';
import { Thoughts } from './thoughts.js';
import { fieldsOf, ToolCalls } from './tool-calls.js';
import { openaiUsage } from './usage.js';

type Fields = Readonly<Record<string, unknown>>;

/** The server gave up on the answer, and says so. */
const INTERRUPTED = /^(error|abort|insufficient_system_resource)$/;
const ANNOUNCES_CALLS = /^(tool_calls?|tool_use|function_call)$/i;

/** One datum of an answer. Anything but an object violates the protocol. */
export function parseChunk(data: string): Fields {
  const value: unknown = JSON.parse(data);
  if (isDeeperThan(value, MAX_DEPTH)) throw new SyntaxError(`nested more than ${MAX_DEPTH} deep`);
  return fieldsOf(Array.isArray(value) ? value[0] : value, 'an event');
}

/** The error in a datum that is not part of an answer. */
export function errorIn(chunk: Fields): unknown {
  return chunk['error'] || (chunk['object'] === 'error' ? chunk : undefined);
}

/** Assembles an answer, streamed or not. Without a finish reason it has no result. */
export class ReplyBuilder {
  readonly #text: string[] = [];
  readonly #refusal: string[] = [];
  readonly #thoughts = new Thoughts();
  readonly #calls = new ToolCalls();
  #finishReason = '';
  /** Whether anything came, and whether it looked like an answer. */
  #seen: 'nothing' | 'something' | 'choices' = 'nothing';
  #usage: Fields | undefined;
  #model: string;

  constructor(model: string) {
    this.#model = model;
  }

  add(chunk: Fields): void {
    const choices = checkedList(chunk['choices'], 'choices').map((choice) => fieldsOf(choice, 'a choice'));
    if (this.#seen !== 'choices') this.#seen = chunk['choices'] ? 'choices' : 'something';
    const choice = choices.find(({ index }) => !index);
    // A server that does not stream has the whole message where a stream has its pieces.
    const delta = choice?.['delta'] ?? choice?.['message'];
    if (delta) this.#addDelta(fieldsOf(delta, 'a delta'));
    this.#addReason(choice?.['finish_reason']);
    const usage = chunk['usage'] ?? choice?.['usage'];
    if (usage) this.#usage = { ...this.#usage, ...fieldsOf(usage, 'the usage') };
    const model = chunk['model'];
    if (typeof model === 'string' && model !== '') this.#model = model;
  }

  /** The whole answer, or its failure. */
  build(): ModelReply | ModelFailure {
    if (this.#seen === 'something') throw new SyntaxError('it has no choices');
    if (this.#finishReason === '')
      return unavailable('the stream ended before the answer was complete (no finish reason)');
    if (INTERRUPTED.test(this.#finishReason))
      return unavailable(`the server ended its answer early (${this.#finishReason})`);
    const calls = this.#calls.build();
    const usage = this.#usage && openaiUsage(this.#usage);
    const thoughts = this.#thoughts.text;
    return {
      type: 'reply',
      content: { role: 'model', parts: [...this.#spoken(), ...calls.parts] },
      ...this.#ending(calls.fault),
      model: this.#model,
      ...(thoughts && { thoughts }),
      ...(usage && { usage }),
    };
  }

  #addDelta(delta: Fields): void {
    this.#addContent(delta['content']);
    if (typeof delta['refusal'] === 'string') this.#refusal.push(delta['refusal']);
    this.#thoughts.add(delta);
    this.#calls.add(checkedList(delta['tool_calls'], 'tool calls'));
    const legacy = delta['function_call'];
    if (legacy) this.#calls.add([{ function: legacy }]);
  }

  /** Text, or a list of parts, some of which are thoughts. */
  #addContent(content: unknown): void {
    if (typeof content === 'string') this.#text.push(content);
    else if (Array.isArray(content))
      content.forEach((part) => this.#addContentPart(fieldsOf(part, 'a part')));
  }

  #addContentPart({ type, text, thinking }: Fields): void {
    if (type === 'thinking') {
      const pieces = Array.isArray(thinking) ? thinking : [{ text: thinking }];
      for (const piece of pieces) this.#thoughts.addReadable(String((piece as Fields)?.['text'] ?? ''));
    } else if (typeof text === 'string') this.#text.push(text);
  }

  /** A reason other than success stays, whatever comes after it. */
  #addReason(reason: unknown): void {
    if (reason === undefined || reason === null || reason === '') return;
    if (this.#finishReason === '' || chatEndOf(this.#finishReason) === 'stop') {
      this.#finishReason = oneLine(String(reason), 100) || 'blank';
    }
  }

  #spoken(): Part[] {
    const thoughts = this.#thoughts.fields;
    const text = this.#text.join('');
    return [...(thoughts ? [{ thought: true, openai: { thoughts } }] : []), ...(text ? [{ text }] : [])];
  }

  /**
   * How it ended. The finish reason alone is not enough: many servers say `stop` with and without calls. If the two
   * contradict each other, the transcript has the word for what it really was.
   */
  #ending(fault: string | undefined): Pick<ModelReply, 'end' | 'finishReason' | 'finishMessage'> {
    const finishReason = this.#finishReason;
    const end = chatEndOf(finishReason);
    const refusal = this.#refusal.join('');
    if (end !== 'stop') return { end, finishReason };
    if (refusal) {
      return { end: 'blocked', finishReason: 'refusal', finishMessage: oneLine(refusal, 300) };
    }
    const missing = ANNOUNCES_CALLS.test(finishReason) && this.#calls.count === 0;
    const finishMessage = fault ?? (missing ? `${finishReason}, but there is no call` : undefined);
    if (finishMessage === undefined) return { end, finishReason };
    return { end: 'malformed_call', finishReason: 'malformed_function_call', finishMessage };
  }
}

function checkedList(value: unknown, what: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw new SyntaxError(`the ${what} are not a list`);
}
