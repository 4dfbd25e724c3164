import type { ReplyEnd } from '../protocol/provider.js';

/** What the finish reasons of the Gemini API mean here. Anything not listed is not success. */
const GEMINI = new Map<string, ReplyEnd>(
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
    IMAGE_PROHIBITED_CONTENT: 'blocked',
    IMAGE_RECITATION: 'blocked',
  }),
);

/** For chat completions: OpenAI's own words first, then what servers pass on from the models they front. */
const CHAT = new Map<string, ReplyEnd>(
  Object.entries({
    stop: 'stop',
    tool_calls: 'stop',
    function_call: 'stop',
    length: 'truncated',
    content_filter: 'blocked',
    refusal: 'blocked',
    eos: 'stop',
    eos_token: 'stop',
    end_turn: 'stop',
    stop_sequence: 'stop',
    tool_call: 'stop',
    tool_use: 'stop',
    max_tokens: 'truncated',
    model_length: 'truncated',
    safety: 'blocked',
    recitation: 'blocked',
    prohibited_content: 'blocked',
    function_call_filter: 'malformed_call',
    malformed_function_call: 'malformed_call',
  }),
);

export function replyEnd(finishReason: string): ReplyEnd {
  return GEMINI.get(finishReason) ?? 'unknown';
}

/** Gateways add detail after a colon, and some use capitals. */
export function chatEndOf(finishReason: string): ReplyEnd {
  const [word = ''] = finishReason.toLowerCase().split(':');
  return CHAT.get(word.trim()) ?? 'unknown';
}

/** For a recording, which may be of either API: no word means two things. */
export function recordedEnd(finishReason: string): ReplyEnd {
  return GEMINI.get(finishReason) ?? chatEndOf(finishReason);
}
