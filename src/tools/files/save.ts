import { chmodSync, chownSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Stats } from 'node:fs';
import { encodeText, type DecodedText } from '../../lib/encoding.js';
import { writeAtomically } from '../../lib/files.js';
import { makeFolders } from '../../lib/folders.js';
import type { ToolReport } from '../../protocol/tool.js';
import { failed, fsError } from './fs-error.js';

/** Writes a file as one step, creating its folders; an existing one keeps its mode and owner. Undefined is success. */
export function saveText(
  path: string,
  shown: string,
  content: DecodedText,
  existing: Stats | undefined,
): ToolReport | undefined {
  const bytes = encodeText(content);
  if (!bytes) {
    return failed(
      'file_write_failure',
      `${shown} is encoded as ${content.encoding}, which has no room for some of the new characters.`,
    );
  }
  try {
    if (!existing) makeFolders(dirname(path));
    writeAtomically(path, bytes, existing && existing.mode & 0o7777);
    if (existing) keepOwner(path, existing);
    return undefined;
  } catch (error) {
    return { ok: false, error: fsError(error, shown, 'file_write_failure') };
  }
}

function keepOwner(path: string, { uid, gid, mode }: Stats): void {
  if (process.getuid?.() !== 0) return;
  const now = statSync(path);
  if (now.uid === uid && now.gid === gid) return;
  chownSync(path, uid, gid);
  // A new owner costs the file its set-id bits.
  chmodSync(path, mode & 0o7777);
}
