import { isDeepStrictEqual } from 'node:util';
import { isDeeperThan, MAX_DEPTH, tooDeep } from '../../lib/depth.js';
import { oneLine } from '../../lib/text.js';
import type { Part } from '../../protocol/content.js';
import type { Tier } from '../../protocol/model-settings.js';
import type { ModelFailure, ModelReply } from '../../protocol/provider.js';
import type { Usage } from '../../protocol/usage.js';
import { replyEnd } from '../finish.js';

/** The parts of a streamed response that we read. */
export interface ResponseChunk {
  readonly candidates?: readonly {
    readonly content?: { readonly parts?: readonly Part[] };
    readonly finishReason?: string;
    readonly finishMessage?: string;
  }[];
  readonly promptFeedback?: { readonly blockReason?: string; readonly blockReasonMessage?: string };
  readonly usageMetadata?: Readonly<Record<string, unknown>>;
  readonly modelVersion?: unknown;
}

/** Assembles a streamed response. Without a finish reason it has no result. */
export class ReplyBuilder {
  readonly #parts: Part[] = [];
  readonly #calls = new Map<string, readonly unknown[]>();
  #thoughts = '';
  #finishReason: string | undefined;
  #finishMessage: string | undefined;
  #blocked = false;
  /** What is wrong with a call. */
  #fault: string | undefined;
  #usage: Record<string, unknown> | undefined;
  #model: string;
  readonly #tier: Tier;

  /** `tier` is the one that was asked for. */
  constructor(model: string, tier: Tier = 'standard') {
    this.#model = model;
    this.#tier = tier;
  }

  add(chunk: ResponseChunk): void {
    const candidate = chunk.candidates?.[0];
    checkDepth(chunk);
    const parts = candidate?.content?.parts ?? [];
    if (!Array.isArray(parts)) throw new SyntaxError('the parts of a content are not a list');
    for (const part of parts as readonly Part[]) this.#addPart(part);
    if (candidate?.finishReason) this.#finishReason = String(candidate.finishReason);
    if (candidate?.finishMessage) this.#finishMessage = candidate.finishMessage;
    this.#addFeedback(chunk.promptFeedback);
    if (chunk.usageMetadata) this.#usage = { ...this.#usage, ...chunk.usageMetadata };
    if (chunk.modelVersion && typeof chunk.modelVersion === 'string') this.#model = chunk.modelVersion;
  }

  /** A blocked prompt has no candidates. */
  #addFeedback({ blockReason, blockReasonMessage }: ResponseChunk['promptFeedback'] = {}): void {
    if (!blockReason) return;
    this.#blocked = true;
    this.#finishReason = blockReason;
    this.#finishMessage = blockReasonMessage;
  }

  /** The data of an event as it came: with an API key the SDK loses why a response ended. */
  addRaw(data: string): void {
    if (!data.includes('"finishMessage"')) return;
    try {
      const chunk = JSON.parse(data) as ResponseChunk;
      this.#finishMessage = chunk.candidates?.[0]?.finishMessage ?? this.#finishMessage;
    } catch {
      // The SDK will complain about it.
    }
  }

  /** The whole response, or undefined if the stream ended early. */
  build(): ModelReply | undefined {
    if (this.#finishReason === undefined) return undefined;
    const usage = this.#used();
    return {
      type: 'reply',
      content: { role: 'model', parts: this.#parts },
      ...this.#ending(this.#finishReason),
      model: this.#model,
      ...(this.#thoughts && { thoughts: this.#thoughts }),
      ...(usage && { usage }),
    };
  }

  #ending(finishReason: string): Pick<ModelReply, 'end' | 'finishReason' | 'finishMessage'> {
    const end = this.#blocked ? 'blocked' : replyEnd(finishReason);
    if (end === 'stop' && this.#fault !== undefined)
      return { end: 'malformed_call', finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: this.#fault };
    const finishMessage = this.#finishMessage;
    return { end, finishReason, ...(finishMessage !== undefined && { finishMessage }) };
  }

  /** The failure that ended the stream, with the cost of the answer until then. */
  brokenBy(failure: ModelFailure): ModelFailure {
    const usage = this.#used();
    return usage ? { ...failure, usage } : failure;
  }

  /** A server that names the tier that answered knows best. */
  #used(): Usage | undefined {
    const usage = this.#usage && geminiUsage(this.#usage);
    const tier = this.#usage?.['serviceTier'] ?? this.#tier;
    return usage && String(tier).toLowerCase() === 'flex' ? { ...usage, tier: 'flex' } : usage;
  }

  /** A call that came before, by its id: whatever repeats it on the way, it was made once. */
  #hasCall({ functionCall }: Part): boolean {
    if (!functionCall?.id) return false;
    const same = this.#calls.get(functionCall.id) ?? [];
    if (same.some((call) => isDeepStrictEqual(call, functionCall))) return true;
    this.#calls.set(functionCall.id, [...same, functionCall]);
    return false;
  }

  #addPart(part: Part): void {
    if (typeof part !== 'object' || part === null)
      throw new SyntaxError('a part of a content is not an object');
    if (isDeeperThan(part, MAX_DEPTH)) {
      const { functionCall } = part;
      if (!functionCall) throw new SyntaxError(`a part of a content: ${tooDeep()}`);
      this.#fault ??= `the arguments of ${oneLine(String(functionCall.name), 64)} are nested deeper than ${MAX_DEPTH} levels`;
      return;
    }
    if (part.thought && part.text) this.#thoughts += part.text;
    if (!isPlainText(part)) {
      if (Object.keys(part).length > 0 && !this.#hasCall(part)) this.#parts.push(part);
      return;
    }
    // Thoughts without a signature are useless to the model, and so are empty pieces.
    if (part.thought || part.text === '') return;
    const last = this.#parts.at(-1);
    if (last && isPlainText(last)) this.#parts[this.#parts.length - 1] = { text: `${last.text}${part.text}` };
    else this.#parts.push(part);
  }
}

/** Everything in an event except the parts, which are checked one by one. */
function checkDepth({ candidates, ...chunk }: ResponseChunk): void {
  const { content: _parts, ...candidate } = candidates?.[0] ?? {};
  if (isDeeperThan([chunk, candidate], MAX_DEPTH)) throw new SyntaxError(`an event: ${tooDeep()}`);
}

/** Only text: such parts may be merged, unless they have a signature or fields we do not know. */
function isPlainText(part: Part): boolean {
  return (
    typeof part.text === 'string' && Object.keys(part).every((key) => key === 'text' || key === 'thought')
  );
}

const USAGE_FIELDS = {
  prompt: 'promptTokenCount',
  cached: 'cachedContentTokenCount',
  output: 'candidatesTokenCount',
  thoughts: 'thoughtsTokenCount',
  tool_use: 'toolUsePromptTokenCount',
  total: 'totalTokenCount',
} as const;

function geminiUsage(metadata: Readonly<Record<string, unknown>>): Usage | undefined {
  const usage: Record<string, number> = {};
  for (const [ours, theirs] of Object.entries(USAGE_FIELDS)) {
    const value = metadata[theirs];
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) usage[ours] = value;
  }
  return Object.keys(usage).length > 0 ? usage : undefined;
}
