import type { Content } from './content.js';
import type { ToolDeclaration } from './tool.js';
import type { Usage } from './usage.js';

export interface ModelRequest {
  readonly system: string;
  /** Contents are never changed once they are here, only added to: providers may cache what they made of them. */
  readonly contents: readonly Content[];
  readonly tools: readonly ToolDeclaration[];
  /** Said once to a model whose last answer could not be used; never part of the history. */
  readonly hint?: string;
}

/** How a response ended, whatever the provider calls it. */
export type ReplyEnd = 'stop' | 'truncated' | 'malformed_call' | 'unexpected_call' | 'blocked' | 'unknown';

/** A whole response: it ended with a finish reason. */
export interface ModelReply {
  readonly type: 'reply';
  readonly content: Content;
  readonly end: ReplyEnd;
  /** The provider's own word for it. */
  readonly finishReason: string;
  readonly finishMessage?: string;
  readonly thoughts?: string;
  readonly usage?: Usage;
  /** The model that answered, by the provider's word. */
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

/** No usable response. Nothing of what may have arrived is kept. */
export interface ModelFailure {
  readonly type: 'failure';
  readonly class: FailureClass;
  readonly message: string;
  readonly hint?: string;
  readonly httpStatus?: number;
  readonly retryable: boolean;
  /** How long the server asks to be left alone before the next try. */
  readonly retryAfterMs?: number;
  /** An old connection was gone: a new one may do, without any wait. */
  readonly atOnce?: boolean;
  /** Tokens of the part of an answer that came. */
  readonly usage?: Usage;
}

export interface Provider {
  readonly name: string;
  readonly model: string;
  /** How it authenticates, never with what. */
  readonly auth: string;
  /** Sends one request; never throws for what a network or a server can do. Abort closes the connection. */
  send(request: ModelRequest, signal: AbortSignal): Promise<ModelReply | ModelFailure>;
  close(): void;
}
