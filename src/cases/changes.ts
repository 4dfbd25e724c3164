import { lstatSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../lib/attempt.js';
import { decodeText } from '../lib/encoding.js';
import { plainReason } from '../lib/errors.js';
import { sha256 } from '../lib/ids.js';
import { fileChange } from '../lib/line-diff.js';
import { realPath } from '../lib/real-path.js';
import { readRegularFile } from '../lib/regular-file.js';
import type { NetChange } from '../protocol/success.js';

/** What a run changed, as a patch to read and compare: text as a diff, other content by its hash. */
export function changesAsPatch(
  changes: readonly NetChange[] | undefined,
  before: string,
  after: string,
): string | undefined {
  return changes
    ?.toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .map((change) => changeText(change, before, after))
    .join('');
}

function changeText({ kind, path, from = path }: NetChange, before: string, after: string): string {
  const title = kind === 'renamed' ? `renamed ${from} -> ${path}` : `${kind} ${path}`;
  const [old, fresh] = [contentOf(before, from), contentOf(after, path)];
  const isText = typeof old !== 'object' && typeof fresh !== 'object';
  if (isText) return old === fresh ? `${title}\n` : `${title}\n${fileChange(path, old, fresh ?? '').diff}`;
  return `${title}\n- ${hashOf(old)}\n+ ${hashOf(fresh)}\n`;
}

type Content = string | Buffer | undefined;

const MAX_BYTES = 64 * 1024 * 1024;

/** Undefined if there is no such file. A link is what it says: where it leads may be anything. */
function contentOf(root: string, path: string): Content {
  const real = join(realPath(root), path);
  const stats = lstatSync(real, { throwIfNoEntry: false });
  if (!stats) return undefined;
  if (stats.isSymbolicLink()) return `link to ${attempt(() => readlinkSync(real)) ?? 'nowhere'}`;
  try {
    const { bytes } = readRegularFile(real, MAX_BYTES, { unmoved: true });
    return decodeText(bytes)?.text ?? bytes;
  } catch (error) {
    return `not read: ${plainReason(error)}`;
  }
}

function hashOf(content: Content): string {
  return content === undefined ? 'no file' : `sha256 ${sha256(content)}`;
}
