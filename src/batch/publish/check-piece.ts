import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage } from '../../lib/errors.js';
import { formatSize } from '../../lib/size.js';
import { oneLine } from '../../lib/text.js';
import type { RecordedRules } from '../../runs/recorded-changes.js';
import { patchPaths } from '../patch-paths.js';
import type { Git } from '../workspaces/git.js';
import { prefixOf } from './prefix.js';
import type { Piece } from './publication.js';
import type { CheckedPiece } from './units.js';

export const MAX_FILES = 300;

export interface PieceChecks {
  /** In bytes. */
  readonly maxPatch: number;
  /** `prefix` leads from the top of the repository to the workspace of the run, if that is clear. */
  readonly rulesFor: (piece: Piece, prefix: string | undefined) => Promise<RecordedRules>;
  /** A folder of our own. */
  readonly root: string;
  readonly plainGit: Git;
}

/** Checks a patch by its own text, and copies it: what is checked is what is published. Returns why not, if so. */
export async function checkPiece(
  piece: Piece,
  { maxPatch, rulesFor, root, plainGit }: PieceChecks,
): Promise<CheckedPiece | string> {
  if (piece.bytes > maxPatch) return tooLarge(piece.bytes, maxPatch);
  if (piece.story.isRedacted) return 'a secret was removed from it when it was saved, so it is not whole';
  const bytes = piece.read();
  if (bytes.length > maxPatch) return tooLarge(bytes.length, maxPatch);
  const patch = join(root, `${piece.own}.patch`);
  writeFileSync(patch, bytes, { mode: 0o600 });
  let paths: readonly string[];
  try {
    paths = await patchPaths(patch, plainGit);
  } catch (error) {
    return oneLine(errorMessage(error), 300);
  }
  if (paths.length > MAX_FILES) return `it changes ${paths.length} files, more than ${MAX_FILES}`;
  const rules = await rulesFor(piece, prefixOf(paths, piece.story.changes));
  const [why] = paths.flatMap((path) => rules.fault(path) ?? []);
  return why ?? { piece, patch, paths, rules };
}

function tooLarge(bytes: number, most: number): string {
  return `its patch has ${formatSize(bytes)}, more than --max-patch ${formatSize(most).replace(' ', '')}`;
}
