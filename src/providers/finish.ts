import type { ReplyEnd } from '../protocol/provider.js';

/** What the finish reasons of the Gemini API mean for us. Anything not listed is not success. */
const ENDS = new Map<string, ReplyEnd>(
  Object.entries({
    STOP: 'stop',
    MAX_TOKENS: 'truncated',
    MALFORMED_FUNCTION_CALL: 'malformed_call',
    UNEXPECTED_TOOL_CALL: 'unexpected_call',
    SAFETY: 'blocked',
    RECITATION: 'blocked',
    BLOCKLIST: 'blocked',
    PROHIBITED_CONTENT: 'blocked',
    SPII: 'blocked',
    LANGUAGE: 'blocked',
    IMAGE_SAFETY: 'blocked',
  }),
);

export function endOf(finishReason: string): ReplyEnd {
  return ENDS.get(finishReason) ?? 'unknown';
}
