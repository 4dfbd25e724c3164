import { dirname } from 'node:path';
import { encodeText, type DecodedText } from '../../lib/encoding.js';
import { createFile, replaceFile } from '../../lib/files.js';
import { makeRealFolders } from '../../lib/folders.js';
import type { FileBytes } from '../../lib/regular-file.js';
import type { ToolError } from '../../protocol/tool-error.js';
import { fsError } from './fs-error.js';

export interface Saved {
  /** The file as it is now. */
  readonly file: FileBytes;
  /** Another program wrote to the file at the same moment, in vain. */
  readonly overtaken: boolean;
}

/** Writes a file in one step, creating its folders, unless it has changed since the edit was planned. */
export function saveText(
  path: string,
  shown: string,
  content: DecodedText,
  existing: FileBytes | undefined,
): Saved | ToolError {
  const bytes = encodeText(content);
  if (!bytes) {
    return {
      type: 'file_write_failure',
      message: `${shown} is encoded as ${content.encoding}, which cannot represent some of the new characters.`,
    };
  }
  try {
    if (existing) {
      const { stats, overtaken } = replaceFile(path, bytes, existing);
      return { file: { bytes, stats }, overtaken };
    }
    makeRealFolders(dirname(path));
    return { file: { bytes, stats: createFile(path, bytes) }, overtaken: false };
  } catch (error) {
    return fsError(error, shown, 'file_write_failure');
  }
}
