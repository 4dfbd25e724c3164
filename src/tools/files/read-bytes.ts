import { errorCode } from '../../lib/errors.js';
import { readRegularFile, type FileBytes } from '../../lib/regular-file.js';
import type { ToolError } from '../../protocol/tool-error.js';
import { fsError } from './fs-error.js';

export const MAX_FILE_BYTES = 20 * 1024 * 1024;

/** The content of a file that the model named, or what to tell it. */
export function readBytes(path: string, shown: string): FileBytes | ToolError {
  try {
    return readRegularFile(path, MAX_FILE_BYTES, { unmoved: true });
  } catch (error) {
    switch (errorCode(error)) {
      case 'EISDIR':
        return {
          type: 'target_is_directory',
          message: `${shown} is a directory. List it with list_directory.`,
        };
      case 'ENOTREG':
      case 'ENXIO':
        return { type: 'read_content_failure', message: `${shown} is not a regular file.` };
      case 'EFBIG':
        return {
          type: 'file_too_large',
          message: `${shown} is too large to be read: at most ${MAX_FILE_BYTES} bytes.`,
        };
      default:
        return fsError(error, shown, 'read_content_failure');
    }
  }
}
