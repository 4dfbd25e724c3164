import type { Content } from './content.js';
import type { ModelSettings } from './model-settings.js';
import type { JsonSchema, ToolDeclaration } from './tool.js';
import type { Usage } from './usage.js';

export type { ModelSettings };

/** How a model gets its tools: by the provider's function calling, or described and called in text. */
export const TOOL_PROTOCOLS = ['native', 'text'] as const;
export type ToolProtocol = (typeof TOOL_PROTOCOLS)[number];

export interface ModelRequest {
  /** Set if it is not a turn of the conversation. */
  readonly purpose?: 'summary';
  readonly system: string;
  /** Contents are only added, never changed: providers may cache what they made of them. */
  readonly contents: readonly Content[];
  readonly tools: readonly ToolDeclaration[];
  /** Said once to a model whose last answer was unusable; never part of the history. */
  readonly hint?: string;
  /** The answer must be JSON of this shape. Given without tools: not every model supports both. */
  readonly answerSchema?: JsonSchema;
}

/** How a response ended, whatever the provider calls it. */
export type ReplyEnd = 'stop' | 'truncated' | 'malformed_call' | 'unexpected_call' | 'blocked' | 'unknown';

/** A whole response: it ended with a finish reason. */
export interface ModelReply {
  readonly type: 'reply';
  readonly content: Content;
  readonly end: ReplyEnd;
  /** The provider's own word for the end. */
  readonly finishReason: string;
  readonly finishMessage?: string;
  readonly thoughts?: string;
  readonly usage?: Usage;
  /** The model that answered, as the provider names it. */
  readonly model: string;
}

export const FAILURE_CLASSES = [
  'auth',
  'quota',
  'not_found',
  'invalid_request',
  'unavailable',
  'protocol',
  'recording',
] as const;
export type FailureClass = (typeof FAILURE_CLASSES)[number];

/** No usable response. Nothing that arrived is kept. */
export interface ModelFailure {
  readonly type: 'failure';
  readonly class: FailureClass;
  readonly message: string;
  readonly hint?: string;
  readonly httpStatus?: number;
  readonly retryable: boolean;
  /** How long the server wants us to wait before the next try. */
  readonly retryAfterMs?: number;
  /** When a quota that is too long to wait for is free again, as far as that is known. */
  readonly resetMs?: number;
  /** An old connection was gone: a new one may work without any wait. */
  readonly atOnce?: boolean;
  /** Tokens of the part of an answer that arrived. */
  readonly usage?: Usage;
}

/** A request beside the conversation that could not even be sent. */
export function lookUpFailure(message: string): ModelFailure {
  return { type: 'failure', class: 'quota', retryable: false, message };
}

/** A request beside the conversation, which the provider answers with what it finds on the web. */
export interface GroundingRequest {
  /** How to answer. */
  readonly instruction: string;
  readonly prompt: string;
  readonly with: 'url_context' | 'google_search';
}

export interface GroundingSource {
  readonly uri: string;
  readonly title: string;
}

/** A whole answer to such a request. */
export interface GroundedReply {
  readonly type: 'grounded';
  readonly text: string;
  readonly end: ReplyEnd;
  readonly finishReason: string;
  readonly model: string;
  readonly usage?: Usage;
  /** What it cost: set by the caller, since providers do not know. */
  readonly cost_usd?: number;
  /** What happened to each URL that the provider read. */
  readonly urls: readonly { readonly url: string; readonly ok: boolean; readonly status: string }[];
  readonly sources: readonly GroundingSource[];
  /** Which sources support the text up to an offset, in bytes of its UTF-8. */
  readonly supports: readonly { readonly end: number; readonly sources: readonly number[] }[];
  /** What it searched for. */
  readonly queries: readonly string[];
}

export type Ground = (
  request: GroundingRequest,
  signal: AbortSignal,
) => Promise<GroundedReply | ModelFailure>;

export interface Provider {
  readonly name: string;
  readonly model: string;
  /** How it authenticates, without the credentials. */
  readonly auth: string;
  /** The settings of the model; absent if no model is asked. */
  readonly settings?: ModelSettings;
  /** Sends one request; never throws for errors of a network or a server. Abort closes the connection. */
  send(request: ModelRequest, signal: AbortSignal): Promise<ModelReply | ModelFailure>;
  /** Looks things up on the web, if the provider can. Like `send`, it never throws. */
  readonly ground?: Ground;
  close(): void;
}
