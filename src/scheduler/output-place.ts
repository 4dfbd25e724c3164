import { join } from 'node:path';
import { sha256 } from '../lib/ids.js';
import { shownPath } from '../lib/real-path.js';

/** Where the full output of a call is written, and how the model refers to it. */
export function outputPlace(
  folder: string,
  workspace: string,
  callId: string,
): { readonly path: string; readonly shown: string } {
  const path = join(folder, `${outputFileName(callId)}.txt`);
  return { path, shown: shownPath(workspace, path) };
}

/** A call's id comes from outside; as a file name it may not contain a path. */
function outputFileName(callId: string): string {
  if (/^[\w-]{1,80}$/.test(callId)) return callId;
  return `${callId.replaceAll(/[^\w-]/g, '_').slice(0, 80)}-${sha256(callId).slice(0, 8)}`;
}
