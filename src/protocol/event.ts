import type { AnswerBinding, ApprovalAnswer, Grant, RecordedRequest } from './approval.js';
import type { CallState, FinalState } from './call.js';
import type { Content, Part } from './content.js';
import type { CommandDecision, Mode, Remedy, RuleReference, Verdict } from './decision.js';
import type { Kind } from './kind.js';
import type { LimitName } from './limit.js';
import type { OutcomeError, Status } from './outcome.js';
import type { ModelSettings, ToolProtocol } from './provider.js';
import type { SandboxState } from './sandbox.js';
import type { ServerStatus } from './source.js';
import type { ToolError } from './tool-error.js';
import type { Baseline, NetChange, PatchReport, SuccessConditions, VerificationEvent } from './success.js';
import type { Todo } from './todo.js';
import type { FileChange, JsonSchema, ProcessEnd } from './tool.js';
import type { ModelUsage, Usage } from './usage.js';

/** The version of the transcript format. */
export const SCHEMA_VERSION = 1;

export interface Limits {
  readonly turns: number;
  readonly tool_calls: number;
  readonly tokens?: number;
  readonly cost_usd?: number;
  readonly time_ms: number;
  readonly retry_time_ms: number;
  readonly parallel: number;
  readonly tool_output: number;
  /** Bytes. */
  readonly stored_output: number;
  readonly denials: number;
}

export interface InitEvent {
  readonly type: 'init';
  readonly version: string;
  readonly schema_version: number;
  readonly model: string;
  /** How the model is asked to answer. A recording is not asked. */
  readonly model_settings?: ModelSettings;
  readonly provider: string;
  readonly auth: string;
  readonly cwd: string;
  readonly git_head: string | null;
  readonly policy: readonly { readonly file: string; readonly sha256: string }[];
  readonly mode: Mode;
  readonly limits: Limits;
  readonly tools: readonly string[];
  readonly mcp_servers: readonly ServerStatus[];
  readonly sandbox: SandboxState;
  /** Absent where the provider's own function calling is used. */
  readonly tool_protocol?: ToolProtocol;
  readonly replay?: string;
  /** Calls that would change something are not carried out. */
  readonly dry_run?: true;
  /** Where the run stood when it was taken up again: the last line before, and how it had ended. */
  readonly resumed_from?: { readonly seq: number; readonly status: Status | 'killed' };
  /** The policies with all that they extend. Needed to go on with the run. */
  readonly effective_policy: readonly object[];
  /** Where a patch of what the run has changed is to go. */
  readonly patch_out?: string;
  /** What the workspace was before the run. Needed to go on with it. */
  readonly baseline?: Baseline;
  /** What must be true at the end. Needed to go on with the run. */
  readonly success?: SuccessConditions;
  /** The schema of `--output-schema`. Needed to go on with the run. */
  readonly output_schema?: JsonSchema;
  /** What the model is told about its situation. Needed to go on with the run. */
  readonly system: string;
  /** A secret was taken out of the policies or the schema: nobody can go on by them. */
  readonly redacted?: boolean;
}

export interface MessageEvent {
  readonly type: 'message';
  readonly role: 'user' | 'assistant';
  readonly content: string;
  readonly phase?: 'interim' | 'final';
  /** The message as sent, attachments included. Needed to go on with the run. */
  readonly parts?: readonly Part[];
  /** Something in it is from strangers. */
  readonly untrusted?: boolean;
  /** It asks the model to mend what is wrong with its answer or its work; the `reason` of the result, if that stays so. */
  readonly repair?: string;
}

export interface ThoughtEvent {
  readonly type: 'thought';
  readonly turn: number;
  readonly content: string;
}

export interface TurnEvent {
  readonly type: 'turn';
  readonly index: number;
  readonly model: string;
  readonly finish_reason: string;
  readonly latency_ms: number;
  readonly usage?: Usage;
  /** Absent if the usage or the price is not known. */
  readonly cost_usd?: number;
  /** What the model said, exactly but for secrets. Needed to go on with the run, and to replay it. */
  readonly content: Content;
  /** A secret was taken out of it. */
  readonly redacted?: boolean;
}

export interface ToolUseEvent {
  readonly type: 'tool_use';
  readonly tool_name: string;
  readonly tool_id: string;
  /** What the call does, for people: `Read src/a.ts`. Older versions did not say it. */
  readonly title?: string;
  readonly parameters: unknown;
  readonly kind: Kind;
  readonly turn: number;
}

export interface PolicyDecisionEvent {
  readonly type: 'policy_decision';
  readonly tool_id: string;
  readonly decision: Verdict;
  readonly rule: RuleReference | null;
  readonly reason: string;
  /** For a command line: each simple command in it. */
  readonly commands?: readonly CommandDecision[];
  /** What would have allowed it. */
  readonly remedy?: Remedy;
}

/** Somebody has to be asked about a call. `tool_id` is the request's `tool_call_id`. */
export interface ApprovalRequestEvent extends RecordedRequest {
  readonly type: 'approval_request';
  readonly tool_id: string;
  /** The answer comes by `bosun approve`. */
  readonly deferred?: boolean;
}

/** An answer, by whomever. One of `bosun approve` is not acted on before the run goes on. */
export interface ApprovalResponseEvent extends ApprovalAnswer {
  readonly type: 'approval_response';
  readonly tool_id: string;
  /** Who answered: the approver command, an «always» of before, or `bosun approve`. */
  readonly source: 'command' | 'callback' | 'grant' | 'approve';
  /** What it covers besides the call, from now on. */
  readonly grant?: Grant;
  /** The arguments with which the call goes on, where they were modified. */
  readonly parameters?: unknown;
  readonly binding?: AnswerBinding;
}

/** A call that changes something begins. On disk before it does: without a result it may have done its work. */
export interface ToolStartEvent {
  readonly type: 'tool_start';
  readonly tool_id: string;
}

export interface ToolStateEvent {
  readonly type: 'tool_state';
  readonly tool_id: string;
  readonly state: CallState;
}

export interface ToolOutputEvent {
  readonly type: 'tool_output';
  readonly tool_id: string;
  readonly content: string;
}

export interface ToolResultEvent {
  readonly type: 'tool_result';
  readonly tool_id: string;
  readonly status: FinalState;
  readonly output?: string | Readonly<Record<string, unknown>>;
  readonly error?: ToolError;
  readonly duration_ms: number;
  readonly change?: FileChange;
  readonly process?: ProcessEnd;
  readonly full_output?: string;
  /** It was not carried out: the run is a dry one. */
  readonly suppressed?: true;
  /** Tokens that the tool used by asking a model, and which. */
  readonly usage?: ModelUsage;
  /** Media that went to the model beside the output. Needed to go on with the run. */
  readonly media?: readonly Part[];
}

export const NETWORK_SCHEMES = ['http', 'https'] as const;

/** What became of a command's wish to reach a host, where commands have no network but that of the policy. */
export interface NetworkDecisionEvent {
  readonly type: 'network_decision';
  readonly host: string;
  readonly port: number;
  /** What it was judged as: a tunnel is `https` unless `http` is all that is allowed there. */
  readonly scheme: (typeof NETWORK_SCHEMES)[number];
  readonly decision: 'allow' | 'deny';
  readonly reason: string;
  /** Where the name led. */
  readonly address?: string;
  /** How often it was decided so since it was last told: repeats are told together. */
  readonly count: number;
}

export type NetworkDecision = Omit<NetworkDecisionEvent, 'type'>;

/** The model's plan as it is now: the whole list. */
export interface TodosEvent {
  readonly type: 'todos';
  readonly todos: readonly Todo[];
}

/** Why a summary was thrown away. */
export const COMPRESSION_FAULTS = ['empty', 'longer', 'truncated', 'blocked', 'failed'] as const;
export type CompressionFault = (typeof COMPRESSION_FAULTS)[number];

/** The oldest part of what is sent was replaced by a summary, or would have been. */
export interface CompressionEvent {
  readonly type: 'compression';
  readonly used: boolean;
  /** The next request, estimated. */
  readonly before_tokens: number;
  readonly after_tokens: number;
  /** How many contents the summary stands for: those after the first, which is the task with earlier notes. */
  readonly contents: number;
  /** Needed to go on with the run. */
  readonly summary?: string;
  readonly reason?: CompressionFault;
  readonly message?: string;
  readonly model: string;
  readonly latency_ms: number;
  readonly usage?: Usage;
  /** Absent if the usage or the price is not known. */
  readonly cost_usd?: number;
}

/** The model was told that it goes round in circles. */
export interface LoopNoticeEvent {
  readonly type: 'loop_notice';
  /** The call that has the notice at the end of its result. */
  readonly tool_id: string;
  /** One round of the loop. */
  readonly calls: readonly { readonly tool_id: string; readonly tool_name: string }[];
  readonly repeats: number;
  readonly message: string;
}

export interface RetryEvent {
  readonly type: 'retry';
  readonly attempt: number;
  readonly wait_ms: number;
  readonly class: string;
  /** The model that was asked. */
  readonly model: string;
  readonly message: string;
  /** Tokens of the answer that was thrown away. */
  readonly usage?: Usage;
  readonly cost_usd?: number;
}

/** A limit is nearly used up. Time is told in milliseconds, cost in dollars. */
export interface LimitNoticeEvent {
  readonly type: 'limit_notice';
  readonly limit: LimitName;
  readonly used: number;
  readonly value: number;
  /** What the model is told, behind the results of its last calls. Needed to go on with the run. */
  readonly message: string;
}

export interface ErrorEvent {
  readonly type: 'error';
  readonly severity: 'warning' | 'error';
  readonly class: string;
  readonly message: string;
}

export interface Denial {
  readonly tool_id: string;
  readonly tool_name: string;
  readonly rule: RuleReference | null;
  readonly reason: string;
  /** What would have allowed it. */
  readonly remedy?: Remedy;
}

export interface TokenStats {
  readonly total_tokens?: number;
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly cached?: number;
  readonly input?: number;
  readonly thoughts?: number;
  readonly tool_use?: number;
  /** Absent unless the cost of every response is known. */
  readonly cost_usd?: number;
}

export interface ToolStats {
  readonly calls: number;
  readonly success: number;
  readonly error: number;
  readonly cancelled: number;
  readonly duration_ms: number;
}

export interface RunStats extends TokenStats {
  readonly turns: number;
  readonly retries: number;
  readonly tool_calls: number;
  readonly tools: Readonly<Record<string, ToolStats>>;
  readonly models: Readonly<Record<string, TokenStats>>;
  readonly duration_ms: number;
  readonly model_duration_ms: number;
  /** Of that, the time spent waiting before asking again. */
  readonly retry_wait_ms: number;
  readonly tool_duration_ms: number;
  /** The sums of `changes`; absent where those are. */
  readonly files_changed?: number;
  readonly lines_added?: number;
  readonly lines_removed?: number;
}

export interface ResultEvent {
  readonly type: 'result';
  readonly status: Status;
  readonly exit_code: number;
  readonly reason?: string;
  readonly response: string;
  /** The answer as a value, where its shape was asked for. */
  readonly structured_output?: unknown;
  readonly stats: RunStats;
  readonly denials: readonly Denial[];
  readonly pending: readonly RecordedRequest[];
  readonly warnings: readonly string[];
  readonly error?: OutcomeError;
  readonly transcript?: string;
  readonly patch?: PatchReport;
  /** The net change of the whole run. Absent if it is not known. */
  readonly changes?: readonly NetChange[];
  /** Absent if the run ended before it was known. */
  readonly sandbox?: SandboxState;
  /** Nothing was changed, whatever the calls say. */
  readonly dry_run?: true;
}

/** What parts of Bosun tell each other and the world. */
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

/** An event as it stands in a transcript. */
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
  /** What a running call prints, as it comes. */
  live?(text: string): void;
  /** What was recorded before the run was taken up again, for whoever tells of the whole run. */
  past?(line: TranscriptLine): void;
}
