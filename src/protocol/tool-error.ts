import { object, oneOf, text, type TypeOf } from './shape.js';

/** Every way a call can fail. Closed: consumers switch over it. */
export const TOOL_ERROR_TYPES = [
  'invalid_tool_params',
  'unknown',
  'unhandled_exception',
  'tool_not_registered',
  'execution_failed',
  'policy_denied',
  'approval_denied',
  'timeout',
  'cancelled',
  'file_not_found',
  'file_write_failure',
  'read_content_failure',
  'attempt_to_create_existing_file',
  'file_too_large',
  'permission_denied',
  'no_space_left',
  'target_is_directory',
  'path_not_in_workspace',
  'edit_preparation_failure',
  'edit_no_occurrence_found',
  'edit_expected_occurrence_mismatch',
  'edit_no_change',
  'glob_execution_error',
  'grep_execution_error',
  'ls_execution_error',
  'mcp_tool_error',
  'memory_tool_execution_error',
  'shell_execute_error',
  'discovered_tool_execution_error',
  'web_fetch_processing_error',
  'web_search_failed',
] as const;
export type ToolErrorType = (typeof TOOL_ERROR_TYPES)[number];

export const TOOL_ERROR = object({ type: oneOf(TOOL_ERROR_TYPES), message: text });
export type ToolError = TypeOf<typeof TOOL_ERROR>;

/** After these no further call can be trusted to work: the run ends as `tool_infra_error`. */
export function isFatal(type: ToolErrorType): boolean {
  return type === 'no_space_left';
}
