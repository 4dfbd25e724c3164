import type { DENIAL, EVENT_FIELDS, LIMITS, RUN_STATS, TOKEN_STATS, TOOL_STATS } from './event-fields.js';
import type { FieldsOf, TypeOf } from './shape.js';
import type { VerificationEvent } from './success.js';

/** The version of the transcript format. */
export const SCHEMA_VERSION = 1;

type EventTypes = typeof EVENT_FIELDS;
type EventOf<Type extends keyof EventTypes> = { readonly type: Type } & FieldsOf<EventTypes[Type]>;

// Interfaces, so that editors and errors call them by their names. Their fields: event-fields.ts.
export interface InitEvent extends EventOf<'init'> {}
export interface MessageEvent extends EventOf<'message'> {}
export interface ThoughtEvent extends EventOf<'thought'> {}
export interface TurnEvent extends EventOf<'turn'> {}
export interface ToolUseEvent extends EventOf<'tool_use'> {}
export interface PolicyDecisionEvent extends EventOf<'policy_decision'> {}
export interface ApprovalRequestEvent extends EventOf<'approval_request'> {}
export interface ApprovalResponseEvent extends EventOf<'approval_response'> {}
export interface ToolStartEvent extends EventOf<'tool_start'> {}
export interface ToolStateEvent extends EventOf<'tool_state'> {}
export interface ToolOutputEvent extends EventOf<'tool_output'> {}
export interface ToolResultEvent extends EventOf<'tool_result'> {}
export interface NetworkDecisionEvent extends EventOf<'network_decision'> {}
export interface TodosEvent extends EventOf<'todos'> {}
export interface CompressionEvent extends EventOf<'compression'> {}
export interface LoopNoticeEvent extends EventOf<'loop_notice'> {}
export interface RetryEvent extends EventOf<'retry'> {}
export interface LimitNoticeEvent extends EventOf<'limit_notice'> {}
export interface ErrorEvent extends EventOf<'error'> {}
export interface ResultEvent extends EventOf<'result'> {}

export type NetworkDecision = Omit<NetworkDecisionEvent, 'type'>;
export type CompressionFault = NonNullable<CompressionEvent['reason']>;
export type Denial = TypeOf<typeof DENIAL>;
export type TokenStats = TypeOf<typeof TOKEN_STATS>;
export type ToolStats = TypeOf<typeof TOOL_STATS>;
export type RunStats = TypeOf<typeof RUN_STATS>;

export type Limits = TypeOf<typeof LIMITS>;

/** What the parts of Bosun tell each other and the world. */
export type RunEvent =
  | InitEvent
  | MessageEvent
  | ThoughtEvent
  | TurnEvent
  | ToolUseEvent
  | PolicyDecisionEvent
  | ApprovalRequestEvent
  | ApprovalResponseEvent
  | ToolStartEvent
  | ToolStateEvent
  | ToolOutputEvent
  | ToolResultEvent
  | NetworkDecisionEvent
  | VerificationEvent
  | TodosEvent
  | CompressionEvent
  | LoopNoticeEvent
  | RetryEvent
  | LimitNoticeEvent
  | ErrorEvent
  | ResultEvent;

/** An event as written in a transcript. */
export type TranscriptLine = {
  readonly v: number;
  readonly seq: number;
  readonly timestamp: string;
  readonly session_id: string;
  readonly prev: string;
} & RunEvent;

export type Emit = (event: RunEvent) => void;

/** Reads events and shows them somewhere. `line` is the event's stamped form. */
export interface Reporter {
  event(line: TranscriptLine): void;
  /** The output of a running call, as it comes. */
  live?(text: string): void;
  /** What was recorded before the run was resumed, for reporters that cover the whole run. */
  past?(line: TranscriptLine): void;
}
