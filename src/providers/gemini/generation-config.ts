import type { ModelSettings } from '../../protocol/provider.js';

/** How the model should answer, in the words of the API. */
export function generationConfig(settings: ModelSettings, includeThoughts: boolean) {
  const { max_output_tokens, temperature, top_p, seed, safety, tier } = settings;
  const thinkingConfig = { ...(includeThoughts && { includeThoughts }), ...thinking(settings) };
  return {
    maxOutputTokens: max_output_tokens,
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { topP: top_p }),
    ...(seed !== undefined && { seed }),
    ...(tier === 'flex' && { serviceTier: tier }),
    ...(Object.keys(thinkingConfig).length > 0 && { thinkingConfig }),
    ...(safety && {
      safetySettings: Object.entries(safety).map(([category, threshold]) => ({ category, threshold })),
    }),
  };
}

function thinking({ thinking }: ModelSettings) {
  if (!thinking) return {};
  return 'budget' in thinking
    ? { thinkingBudget: thinking.budget }
    : { thinkingLevel: thinking.level.toUpperCase() };
}
