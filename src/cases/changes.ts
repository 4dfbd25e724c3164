import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../lib/attempt.js';
import { decodeText } from '../lib/encoding.js';
import { sha256 } from '../lib/ids.js';
import { fileChange } from '../lib/line-diff.js';
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
  const [old, fresh] = [contentOf(join(before, from)), contentOf(join(after, path))];
  const isText = typeof old !== 'object' && typeof fresh !== 'object';
  if (isText) return old === fresh ? `${title}\n` : `${title}\n${fileChange(path, old, fresh ?? '').diff}`;
  return `${title}\n- ${hashOf(old)}\n+ ${hashOf(fresh)}\n`;
}

type Content = string | Buffer | undefined;

/** Undefined if there is no such file. */
function contentOf(path: string): Content {
  const bytes = attempt(() => readFileSync(path));
  return bytes && (decodeText(bytes)?.text ?? bytes);
}

function hashOf(content: Content): string {
  return content === undefined ? 'no file' : `sha256 ${sha256(content)}`;
}
