import type { ModelSettings } from '../../protocol/provider.js';

/** The two names of the longest answer: OpenAI's newer models know only the second, other servers often only the first. */
const LENGTH_FIELDS = ['max_tokens', 'max_completion_tokens'] as const;
export type LengthField = (typeof LENGTH_FIELDS)[number];

/** The name to try first. */
export function lengthFieldAt(baseUrl: string): LengthField {
  return new URL(baseUrl).hostname === 'api.openai.com' ? 'max_completion_tokens' : 'max_tokens';
}

/** How the model should answer, in the words of chat completions. They have no thresholds of Gemini's filters. */
export function settingFields(
  settings: ModelSettings,
  length: LengthField,
): Readonly<Record<string, unknown>> {
  const { max_output_tokens, temperature, top_p, seed, thinking } = settings;
  return {
    [length]: max_output_tokens,
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { top_p }),
    ...(seed !== undefined && { seed }),
    ...(thinking && 'level' in thinking && { reasoning_effort: thinking.level }),
  };
}

/** The other name, if that is what a server asks for: "use 'max_completion_tokens' instead". */
export function otherLength(length: LengthField, said: string): LengthField | undefined {
  if (!new RegExp(`\\b${length}\\b`).test(said)) return undefined;
  return LENGTH_FIELDS.find((field) => field !== length);
}
