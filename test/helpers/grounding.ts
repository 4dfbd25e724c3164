import type { Reply } from './gemini-server.mjs';

interface Support {
  readonly start?: number;
  readonly end?: number;
  readonly part?: number;
  readonly text?: string;
  readonly chunks?: readonly number[];
}

interface Grounding {
  readonly urls?: Readonly<Record<string, string>>;
  readonly sources?: readonly (readonly [uri: string, title: string])[];
  readonly supports?: readonly Support[];
  readonly queries?: readonly string[];
}

/** What the API says beside the text of an answer that is grounded in the web. */
export function groundingFields({ urls, sources, supports, queries }: Grounding): object {
  return {
    ...(urls && {
      urlContextMetadata: {
        urlMetadata: Object.entries(urls).map(([retrievedUrl, status]) => ({
          retrievedUrl,
          urlRetrievalStatus: `URL_RETRIEVAL_STATUS_${status}`,
        })),
      },
    }),
    groundingMetadata: {
      ...(sources && { groundingChunks: sources.map(([uri, title]) => ({ web: { uri, title } })) }),
      ...(supports && {
        groundingSupports: supports.map(({ start, end, part, text, chunks }) => ({
          segment: { startIndex: start, endIndex: end, partIndex: part, text },
          groundingChunkIndices: chunks,
        })),
      }),
      ...(queries && { webSearchQueries: queries }),
    },
  };
}

/** A scripted answer to a request beside the conversation. */
export function grounded(text: string, grounding: Grounding = {}): Reply {
  return { parts: [{ text }], candidate: groundingFields(grounding) };
}
