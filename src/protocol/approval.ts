import { APPROVAL_OPTIONS, requestOption, type ApprovalOption } from './approval-options.js';
import type { Call } from './call.js';
import type { Decision } from './decision.js';
import { isMutator, KINDS, type Kind } from './kind.js';
import { RISKS, type Risk } from './risk.js';
import {
  anything,
  either,
  hash,
  listOf,
  name,
  object,
  oneOf,
  text,
  word,
  type FieldsOf,
  type TypeOf,
} from './shape.js';
import type { ToolError } from './tool-error.js';
import type { Confirmation, Invocation, PathUse } from './tool.js';

/** Exactly one of these is present. */
const DETAILS = {
  'execute_details?': object({ command: text, working_directory: text, root_commands: listOf(text) }),
  'file_edit_details?': object({
    file_name: text,
    file_path: text,
    old_content: text,
    new_content: text,
    formatted_diff: text,
  }),
  'mcp_details?': object({ server_name: text, tool_name: name }),
  'generic_details?': object({ description: text }),
  // The arguments, if the details do not show them.
  'parameters?': anything,
};

/** A possible answer. */
// In our words.
const REQUEST_OPTION = object({ id: oneOf(APPROVAL_OPTIONS), name: word, description: word });

/** What an approver is asked before a call runs. */
export type ConfirmationRequest = FieldsOf<typeof REQUEST>;
const REQUEST = {
  tool_call_id: name,
  tool_name: name,
  // The tool's name for people. For an MCP tool, its server chose it.
  display_name: text,
  // What the call does, in one line: `Run npm publish`.
  title: text,
  // What it may do at worst.
  risk: oneOf(RISKS),
  // Why approval is needed.
  reason: text,
  options: listOf(REQUEST_OPTION),
  ...DETAILS,
};

/** A request as recorded in a transcript: older versions had fewer fields, and only ids of options. */
export const RECORDED_REQUEST = {
  tool_call_id: name,
  tool_name: name,
  'display_name?': text,
  'title?': text,
  'risk?': oneOf(RISKS),
  reason: text,
  options: listOf(either(oneOf(APPROVAL_OPTIONS), REQUEST_OPTION)),
  ...DETAILS,
};
export type RecordedRequest = FieldsOf<typeof RECORDED_REQUEST>;

export const ANSWER = {
  tool_call_id: name,
  selected_option_id: oneOf(APPROVAL_OPTIONS),
  // For `modify`: the content that replaces the proposed one.
  'file_details?': object({ new_content: text }),
  // Shown to the model, and kept in the transcript.
  'reason?': text,
};
export type ApprovalAnswer = FieldsOf<typeof ANSWER>;

/** What a later answer is bound to, and until when. */
export const ANSWER_BINDING = object({
  arguments_sha256: hash,
  // Of the request that was answered: what was seen is what happens.
  request_sha256: hash,
  policy_sha256: hash,
  // Of the last line before the answer, and so of the whole transcript until then. Older versions lack it.
  'transcript_sha256?': hash,
  expires_at: word,
  // By an ed25519 key: the public one (SPKI) and the signature, in base64.
  'signature?': object({ key: word, value: word }),
});
export type AnswerBinding = TypeOf<typeof ANSWER_BINDING>;

/** What an "always" answer covers, for the rest of the run. */
export const GRANT = object({
  'roots?': listOf(text),
  'kind?': oneOf(KINDS),
  'tool?': text,
  'server?': text,
});
export type Grant = TypeOf<typeof GRANT>;

/** A call for which the policy wants approval. */
export interface AskedCall {
  readonly call: Call;
  readonly tool: string;
  readonly displayName: string;
  /** What the call does, in one line without secrets. */
  readonly title: string;
  readonly kind: Kind;
  readonly invocation: Invocation;
  readonly decision: Decision;
}

/** The result of asking. */
export type AskResult =
  | {
      readonly type: 'proceed';
      readonly invocation: Invocation;
      /** What the model is told besides the result. */
      readonly note?: string;
    }
  | { readonly type: 'refused'; readonly error: ToolError }
  /** The answer comes after the run. */
  | { readonly type: 'deferred' };

export type Ask = (asked: AskedCall, signal: AbortSignal) => Promise<AskResult>;

export function confirmationRequest(asked: AskedCall, confirmation: Confirmation): ConfirmationRequest {
  return {
    tool_call_id: asked.call.id,
    tool_name: asked.tool,
    display_name: asked.displayName,
    title: asked.title,
    risk: riskOf(confirmation, asked.kind, asked.invocation.paths),
    reason: asked.decision.reason,
    options: optionsFor(asked, confirmation).map((id) => requestOption(id, confirmation.type)),
    ...detailsOf(asked, confirmation),
  };
}

/** The risk of a call, from its confirmation. */
function riskOf(confirmation: Confirmation, kind: Kind, paths: readonly PathUse[]): Risk {
  switch (confirmation.type) {
    case 'exec':
      return confirmation.risk;
    case 'edit':
      return 'writes';
    case 'mcp':
    case 'info':
      return riskOfKind(kind, paths);
    default:
      return confirmation satisfies never;
  }
}

/** An external tool is `read` only if the policy says so; what else it does is unknown. */
function riskOfKind(kind: Kind, paths: readonly PathUse[]): Risk {
  if (kind === 'fetch') return 'network';
  if (kind === 'execute' || kind === 'other') return 'unknown';
  return isMutator(kind) || paths.some(({ access }) => access === 'write') ? 'writes' : 'reads';
}

/** A request of any version, in today's form. */
export function currentRequest(recorded: RecordedRequest): ConfirmationRequest {
  const { tool_call_id, tool_name, reason, options, ...rest } = recorded;
  const { execute_details, mcp_details, file_edit_details } = recorded;
  const type = execute_details ? 'exec' : mcp_details ? 'mcp' : file_edit_details ? 'edit' : 'info';
  return {
    tool_call_id,
    tool_name,
    display_name: tool_name,
    title: tool_name,
    risk: file_edit_details ? 'writes' : 'unknown',
    reason,
    options: options.map((option) => (typeof option === 'string' ? requestOption(option, type) : option)),
    ...rest,
  };
}

/** A request in the form of older versions. */
export function formerRequest(request: ConfirmationRequest): RecordedRequest {
  const { display_name: _name, title: _title, risk: _risk, options, ...rest } = request;
  return { ...rest, options: options.map(({ id }) => id) };
}

type Details = Pick<
  ConfirmationRequest,
  'execute_details' | 'file_edit_details' | 'mcp_details' | 'generic_details' | 'parameters'
>;

function detailsOf({ call }: AskedCall, confirmation: Confirmation): Details {
  switch (confirmation.type) {
    case 'edit': {
      const { file_path, old_content, new_content, diff } = confirmation;
      const file_name = file_path.slice(file_path.lastIndexOf('/') + 1);
      return { file_edit_details: { file_name, file_path, old_content, new_content, formatted_diff: diff } };
    }
    case 'exec': {
      const { command, directory, root_commands } = confirmation;
      return { execute_details: { command, working_directory: directory, root_commands } };
    }
    case 'mcp': {
      const { server, tool } = confirmation;
      return { mcp_details: { server_name: server, tool_name: tool }, parameters: call.args };
    }
    case 'info':
      return { generic_details: { description: confirmation.description }, parameters: call.args };
    default:
      return confirmation satisfies never;
  }
}

/** Only what makes sense for the call: an "always" must be able to cover a later one. */
function optionsFor({ kind, decision, invocation }: AskedCall, confirmation: Confirmation): ApprovalOption[] {
  switch (confirmation.type) {
    case 'edit': {
      const modify = invocation.modified ? (['modify'] as const) : [];
      return ['proceed_once', 'proceed_always', 'proceed_always_tool', ...modify, 'cancel'];
    }
    case 'exec':
      return askedRoots(decision)
        ? ['proceed_once', 'proceed_always', 'proceed_always_tool', 'cancel']
        : ['proceed_once', 'cancel'];
    case 'mcp':
      return ['proceed_once', 'proceed_always_tool', 'proceed_always_server', 'cancel'];
    case 'info':
      return isMutator(kind)
        ? ['proceed_once', 'proceed_always_tool', 'cancel']
        : ['proceed_once', 'proceed_always', 'proceed_always_tool', 'cancel'];
    default:
      return confirmation satisfies never;
  }
}

/** The programs of a line that were asked about; undefined if something else in it was, or no program was. */
export function askedRoots({ commands = [] }: Decision): readonly string[] | undefined {
  const asked = commands.filter(({ decision }) => decision === 'ask');
  const roots = asked.flatMap((command) => command.roots ?? []);
  return roots.length > 0 && asked.every((command) => command.roots) ? roots : undefined;
}

/** What an answer covers besides the call itself. */
export function grantOf(
  option: ApprovalOption,
  { tool, kind, decision }: AskedCall,
  confirmation: Confirmation,
): Grant | undefined {
  switch (option) {
    case 'proceed_always':
      return confirmation.type === 'exec' ? { roots: askedRoots(decision) ?? [] } : { kind };
    case 'proceed_always_tool':
      return { tool };
    case 'proceed_always_server':
      return confirmation.type === 'mcp' ? { server: confirmation.server } : undefined;
    case 'proceed_once':
    case 'modify':
    case 'cancel':
      return undefined;
    default:
      return option satisfies never;
  }
}

/** Why an answer does not fit this request. */
export function answerFault(answer: ApprovalAnswer, request: ConfirmationRequest): string | undefined {
  const { tool_call_id, selected_option_id, file_details } = answer;
  if (tool_call_id !== request.tool_call_id)
    return `it is for the call ${tool_call_id}, and ${request.tool_call_id} was asked about`;
  const ids = request.options.map(({ id }) => id);
  if (!ids.includes(selected_option_id))
    return `${selected_option_id} is not among the options (${ids.join(', ')})`;
  if (selected_option_id === 'modify' && !file_details) return 'modify needs file_details.new_content';
  if (selected_option_id !== 'modify' && file_details)
    return `${selected_option_id} comes with a new content, which only modify can`;
  return undefined;
}
