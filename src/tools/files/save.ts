import { chmod, chown, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Stats } from 'node:fs';
import { encodeText, type DecodedText } from '../../lib/encoding.js';
import { writeAtomically } from '../../lib/files.js';
import type { ToolReport } from '../../protocol/tool.js';
import { failed, fsError } from './fs-error.js';

/** Writes a file as one step, creating its folders; an existing one keeps its mode and owner. Undefined is success. */
export async function saveText(
  path: string,
  shown: string,
  content: DecodedText,
  existing: Stats | undefined,
): Promise<ToolReport | undefined> {
  const bytes = encodeText(content);
  if (!bytes) {
    return failed(
      'file_write_failure',
      `${shown} is encoded as ${content.encoding}, which has no room for some of the new characters.`,
    );
  }
  try {
    if (!existing) await mkdir(dirname(path), { recursive: true });
    await writeAtomically(path, bytes, existing && existing.mode & 0o7777);
    if (existing) await keepOwner(path, existing);
    return undefined;
  } catch (error) {
    return { ok: false, error: fsError(error, shown, 'file_write_failure') };
  }
}

async function keepOwner(path: string, { uid, gid, mode }: Stats): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const now = await stat(path);
  if (now.uid === uid && now.gid === gid) return;
  await chown(path, uid, gid);
  // A new owner costs the file its set-id bits.
  await chmod(path, mode & 0o7777);
}
