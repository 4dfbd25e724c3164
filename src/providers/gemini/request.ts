import type { Content } from '../../protocol/content.js';
import type { ModelRequest, ModelSettings } from '../../protocol/provider.js';
import { generationConfig } from './generation-config.js';
import { SdkMisfit } from './sdk-workarounds.js';

const serialized = new WeakMap<Content, Buffer>();

/** A content as it goes over the wire. Made once: a history of hundreds of turns is not written again every turn. */
function bytesOf(content: Content): Buffer {
  let bytes = serialized.get(content);
  if (!bytes) {
    bytes = Buffer.from(JSON.stringify(content));
    serialized.set(content, bytes);
  }
  return bytes;
}

const MARK = '\u0002contents\u0002';
const PLACEHOLDER: Content = { role: 'user', parts: [{ text: MARK }] };
/** How the SDK writes the placeholder. */
const PLACEHOLDER_JSON = `{"parts":[{"text":${JSON.stringify(MARK)}}],"role":"user"}`;
const COMMA = Buffer.from(',');

/** What the SDK is asked to send. It gets a placeholder for the conversation: see `withContents`. */
export function sdkParameters(
  model: string,
  request: ModelRequest,
  settings: ModelSettings,
  includeThoughts: boolean,
) {
  return {
    model,
    contents: [PLACEHOLDER],
    config: {
      systemInstruction: request.hint ? `${request.system}\n\n${request.hint}` : request.system,
      ...(request.tools.length > 0 && {
        tools: [
          {
            functionDeclarations: request.tools.map(({ name, description, parameters }) => ({
              name,
              description,
              parametersJsonSchema: parameters,
            })),
          },
        ],
      }),
      ...(request.answerSchema && {
        responseMimeType: 'application/json',
        responseJsonSchema: request.answerSchema,
      }),
      ...generationConfig(settings, includeThoughts),
      automaticFunctionCalling: { disable: true },
    },
  };
}

/**
 * Puts the conversation into the SDK's request body. The SDK copies only the fields that it knows; the model's
 * content has to go back as it came, fields of tomorrow included.
 */
export function withContents(sdkBody: string, contents: readonly Content[]): Buffer[] {
  const at = sdkBody.indexOf(PLACEHOLDER_JSON);
  if (at < 0) throw new SdkMisfit('contents', 'the place of the conversation is not in what it would send');
  const pieces: Buffer[] = [Buffer.from(sdkBody.slice(0, at))];
  contents.forEach((content, i) => {
    if (i > 0) pieces.push(COMMA);
    pieces.push(bytesOf(content));
  });
  pieces.push(Buffer.from(sdkBody.slice(at + PLACEHOLDER_JSON.length)));
  return pieces;
}
