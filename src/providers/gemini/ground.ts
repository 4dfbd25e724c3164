import { recordOrEmpty, stringOrEmpty } from '../../lib/record.js';
import { textOf, type Part } from '../../protocol/content.js';
import type {
  GroundedReply,
  GroundingRequest,
  GroundingSource,
  ModelFailure,
} from '../../protocol/provider.js';
import { ReplyBuilder, type ResponseChunk } from './response.js';

/** What the SDK is asked to send. */
export function groundingParameters(model: string, request: GroundingRequest) {
  return {
    model,
    contents: [{ role: 'user', parts: [{ text: request.prompt }] }],
    config: {
      systemInstruction: request.instruction,
      tools: [request.with === 'url_context' ? { urlContext: {} } : { googleSearch: {} }],
      automaticFunctionCalling: { disable: true },
    },
  };
}

type Loose = Readonly<Record<string, unknown>>;

/** Assembles a grounded answer. Nothing in the metadata beside its text is trusted. */
export class GroundingBuilder {
  readonly #reply: ReplyBuilder;
  readonly #urls = new Map<string, string>();
  #chunks: readonly Loose[] = [];
  #supports: readonly Loose[] = [];
  #queries: readonly unknown[] = [];

  constructor(model: string) {
    this.#reply = new ReplyBuilder(model);
  }

  add(chunk: ResponseChunk): void {
    this.#reply.add(chunk);
    const candidate = objectOf(chunk.candidates?.[0]);
    for (const seen of objectsIn(objectOf(candidate['urlContextMetadata'])['urlMetadata'])) {
      const url = stringOrEmpty(seen['retrievedUrl']);
      if (url) this.#urls.set(url, stringOrEmpty(seen['urlRetrievalStatus']));
    }
    // A later event repeats the metadata more completely.
    const metadata = objectOf(candidate['groundingMetadata']);
    this.#chunks = filled(objectsIn(metadata['groundingChunks']), this.#chunks);
    this.#supports = filled(objectsIn(metadata['groundingSupports']), this.#supports);
    this.#queries = filled(listOrNone(metadata['webSearchQueries']), this.#queries);
  }

  addRaw(data: string): void {
    this.#reply.addRaw(data);
  }

  brokenBy(failure: ModelFailure): ModelFailure {
    return this.#reply.brokenBy(failure);
  }

  build(): GroundedReply | undefined {
    const reply = this.#reply.build();
    if (!reply) return undefined;
    const { content, end, finishReason, model, usage } = reply;
    const { sources, numbers } = groundSources(this.#chunks);
    return {
      type: 'grounded',
      text: textOf(content.parts),
      end,
      finishReason,
      model,
      ...(usage && { usage }),
      urls: [...this.#urls].map(([url, status]) => ({
        url,
        ok: status === 'URL_RETRIEVAL_STATUS_SUCCESS',
        status,
      })),
      sources,
      supports: this.#supports.flatMap((support) => supportOf(support, content.parts, numbers)),
      queries: this.#queries.filter((query): query is string => typeof query === 'string'),
    };
  }
}

/** The sources that can be named, each once, and which of them each chunk is. */
function groundSources(chunks: readonly Loose[]) {
  const sources: GroundingSource[] = [];
  const numbers = chunks.map((chunk) => {
    const web = objectOf(chunk['web']);
    const uri = stringOrEmpty(web['uri']);
    if (!uri) return undefined;
    const known = sources.findIndex((source) => source.uri === uri);
    return known >= 0 ? known : sources.push({ uri, title: stringOrEmpty(web['title']) }) - 1;
  });
  return { sources, numbers };
}

function supportOf(
  support: Loose,
  parts: readonly Part[],
  numbers: readonly (number | undefined)[],
): GroundedReply['supports'] {
  const end = segmentEnd(objectOf(support['segment']), parts);
  const sources = listOrNone(support['groundingChunkIndices']).flatMap(
    (index) => numbers[Number(index)] ?? [],
  );
  return end === undefined || sources.length === 0 ? [] : [{ end, sources: [...new Set(sources)] }];
}

/** Offsets count from the start of a part; in a stream, where parts come in pieces, from the start of it all. */
function segmentEnd(segment: Loose, parts: readonly Part[]): number | undefined {
  const { startIndex = 0, endIndex, partIndex = 0, text } = segment;
  if (!Number.isSafeInteger(endIndex) || Number(endIndex) < 0) return undefined;
  const end = Number(endIndex);
  const part = Buffer.from(textOf(parts.slice(Number(partIndex), Number(partIndex) + 1)));
  const isOfPart = Number(partIndex) > 0 && text === part.subarray(Number(startIndex), end).toString('utf8');
  return isOfPart ? Buffer.byteLength(textOf(parts.slice(0, Number(partIndex)))) + end : end;
}

function objectOf(value: unknown): Loose {
  return recordOrEmpty(value) as Loose;
}

function listOrNone(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function objectsIn(value: unknown): readonly Loose[] {
  return listOrNone(value).map(objectOf);
}

function filled<T>(news: readonly T[], before: readonly T[]): readonly T[] {
  return news.length > 0 ? news : before;
}
