/** What a run may use up. Each of these ends it, and the model is warned before that. */
export const LIMIT_NAMES = ['turns', 'tool_calls', 'tokens', 'cost', 'time', 'denials'] as const;
export type LimitName = (typeof LIMIT_NAMES)[number];
