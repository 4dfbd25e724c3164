import type { Call } from './call.js';
import type { Decision } from './decision.js';
import { isMutator, type Kind } from './kind.js';
import type { ToolError } from './tool-error.js';
import type { Confirmation, Invocation } from './tool.js';

export const APPROVAL_OPTIONS = [
  'proceed_once',
  'proceed_always',
  'proceed_always_tool',
  'proceed_always_server',
  'modify',
  'cancel',
] as const;
export type ApprovalOption = (typeof APPROVAL_OPTIONS)[number];

/** What somebody is asked before a call runs. Just one of the `…_details` is there. */
export interface ConfirmationRequest {
  readonly tool_call_id: string;
  readonly tool_name: string;
  /** Why it is asked about. */
  readonly reason: string;
  readonly options: readonly ApprovalOption[];
  readonly execute_details?: {
    readonly command: string;
    readonly working_directory: string;
    readonly root_commands: readonly string[];
  };
  readonly file_edit_details?: {
    readonly file_name: string;
    readonly file_path: string;
    readonly old_content: string;
    readonly new_content: string;
    readonly formatted_diff: string;
  };
  readonly mcp_details?: { readonly server_name: string; readonly tool_name: string };
  readonly generic_details?: { readonly description: string };
  /** The arguments, where the details do not show them. */
  readonly parameters?: unknown;
}

export interface ApprovalAnswer {
  readonly tool_call_id: string;
  readonly selected_option_id: ApprovalOption;
  /** For `modify`: the content that takes the place of the proposed one. */
  readonly file_details?: { readonly new_content: string };
  /** Said to the model, and kept in the transcript. */
  readonly reason?: string;
}

/** What an answer that is given later holds for, and until when. */
export interface AnswerBinding {
  readonly arguments_sha256: string;
  /** Of the request that was answered: what was seen is what happens. */
  readonly request_sha256: string;
  readonly policy_sha256: string;
  /** Of the last line before the answer: all that the transcript said until then. Older versions did not say it. */
  readonly transcript_sha256?: string;
  readonly expires_at: string;
  /** By an ed25519 key: the public one (SPKI) and the signature, in base64. */
  readonly signature?: { readonly key: string; readonly value: string };
}

/** What an «always» answer covers, for the rest of the run. */
export interface Grant {
  readonly roots?: readonly string[];
  readonly kind?: Kind;
  readonly tool?: string;
  readonly server?: string;
}

/** A call that the policy wants somebody to be asked about. */
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

/** What came of asking. */
export type Ruling =
  | {
      readonly type: 'proceed';
      readonly invocation: Invocation;
      /** What the model is told besides the result. */
      readonly note?: string;
    }
  | { readonly type: 'refused'; readonly error: ToolError }
  /** The answer comes when the run is over. */
  | { readonly type: 'deferred' };

export type Ask = (asked: AskedCall, signal: AbortSignal) => Promise<Ruling>;

export function confirmationRequest(asked: AskedCall, confirmation: Confirmation): ConfirmationRequest {
  return {
    tool_call_id: asked.call.id,
    tool_name: asked.tool,
    reason: asked.decision.reason,
    options: optionsFor(asked, confirmation),
    ...detailsOf(asked, confirmation),
  };
}

type Details = Omit<ConfirmationRequest, 'tool_call_id' | 'tool_name' | 'reason' | 'options'>;

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

/** Only what makes sense for the call: an «always» must be able to cover a later one. */
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

/** The programs of a line that were asked about; undefined if something else in it was, or no program at all. */
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

/** Why an answer is none to this request. */
export function answerFault(answer: ApprovalAnswer, request: ConfirmationRequest): string | undefined {
  const { tool_call_id, selected_option_id, file_details } = answer;
  if (tool_call_id !== request.tool_call_id)
    return `it is for the call ${tool_call_id}, and ${request.tool_call_id} was asked about`;
  if (!request.options.includes(selected_option_id))
    return `${selected_option_id} is not among the options (${request.options.join(', ')})`;
  if (selected_option_id === 'modify' && !file_details) return 'modify needs file_details.new_content';
  if (selected_option_id !== 'modify' && file_details)
    return `${selected_option_id} comes with a new content, which only modify can`;
  return undefined;
}
