import type { Content } from '../../protocol/content.js';
import type { ModelRequest, ModelSettings } from '../../protocol/provider.js';
import { generationConfig } from './generation-config.js';
import { SdkMisfit } from './sdk-workarounds.js';
import { WrittenContents } from './written-contents.js';

const MARK = '\u0002contents\u0002';
const PLACEHOLDER: Content = { role: 'user', parts: [{ text: MARK }] };
/** How the SDK writes the placeholder. */
const PLACEHOLDER_JSON = `{"parts":[{"text":${JSON.stringify(MARK)}}],"role":"user"}`;

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

/** What surrounds a conversation. */
interface Frame {
  readonly sdkBody: string;
  readonly before: Buffer;
  readonly after: Buffer;
}

/**
 * Puts a conversation into the SDK's request bodies. The SDK copies only the fields it knows; the model's
 * content must go back as it came, including future fields.
 */
export function bodyWriter(): (sdkBody: string, contents: readonly Content[]) => Buffer[] {
  const written = new WrittenContents();
  let frame: Frame | undefined;
  return (sdkBody, contents) => {
    if (frame?.sdkBody !== sdkBody) frame = frameIn(sdkBody);
    return [frame.before, ...written.pieces(contents), frame.after];
  };
}

function frameIn(sdkBody: string): Frame {
  const at = sdkBody.indexOf(PLACEHOLDER_JSON);
  if (at < 0) throw new SdkMisfit('contents', 'the place of the conversation is not in what it would send');
  const [before, after] = [sdkBody.slice(0, at), sdkBody.slice(at + PLACEHOLDER_JSON.length)];
  return { sdkBody, before: Buffer.from(before), after: Buffer.from(after) };
}
