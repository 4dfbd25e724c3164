import { errorCode, errorMessage } from '../../lib/errors.js';
import type { ToolError, ToolErrorType } from '../../protocol/tool-error.js';
import type { ToolReport } from '../../protocol/tool.js';

/** An error of the file system in our words. */
export function fsError(error: unknown, path: string, otherwise: ToolErrorType): ToolError {
  switch (errorCode(error)) {
    case 'ENOENT':
      return { type: 'file_not_found', message: `${path} does not exist.` };
    case 'EMOVED':
      return {
        type: 'path_not_in_workspace',
        message: `${path} leads elsewhere than when the call was decided.`,
      };
    case 'ECHANGED':
      return {
        type: 'file_write_failure',
        message: `${path} was changed or removed by another program while it was being edited. Nothing was written: read it again before the next try.`,
      };
    case 'EAPPEARED':
      return {
        type: 'attempt_to_create_existing_file',
        message: `${path} was created by another program in the meantime. Nothing was written: read it before the next try.`,
      };
    case 'EEXIST':
      return { type: otherwise, message: `${path} cannot be created: a part of its path is a file.` };
    case 'ENOTDIR':
      return { type: 'file_not_found', message: `${path} does not exist: a part of it is not a directory.` };
    case 'EISDIR':
      return { type: 'target_is_directory', message: `${path} is a directory.` };
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return { type: 'permission_denied', message: `${path}: permission denied by the file system.` };
    case 'ENOSPC':
    case 'EDQUOT':
      return { type: 'no_space_left', message: `${path}: no space left on the device.` };
    default:
      return { type: otherwise, message: `${path}: ${errorMessage(error)}` };
  }
}

export function failedReport(type: ToolErrorType, message: string): ToolReport {
  return { ok: false, error: { type, message } };
}
