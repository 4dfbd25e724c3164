import { count } from '../../lib/text.js';
import type { RecordedRules } from '../../runs/recorded-changes.js';
import { branchOf, groupKey, titleOf } from './names.js';
import type { Piece } from './publication.js';

export type Grouping = 'none' | 'folder' | 'all';

/** A patch that has passed the checks of its own text. */
export interface CheckedPiece {
  readonly piece: Piece;
  /** Its file in our temporary folder. */
  readonly patch: string;
  readonly paths: readonly string[];
  readonly rules: RecordedRules;
}

/** What becomes one pull request. */
export interface Unit {
  readonly key: string;
  readonly branch: string;
  readonly title: string;
  readonly isGroup: boolean;
  readonly members: readonly CheckedPiece[];
}

/** A patch is never divided: one that changes several folders goes with those that change the same ones. */
export function unitsOf(
  checked: readonly CheckedPiece[],
  grouping: Grouping,
  batch: string | undefined,
): Unit[] {
  if (grouping === 'none') return checked.map((one) => singleUnit(one, batch));
  const groups = new Map<string, CheckedPiece[]>();
  for (const one of checked) {
    const folders = grouping === 'all' ? '' : foldersOf(one.paths).join(', ');
    groups.set(folders, [...(groups.get(folders) ?? []), one]);
  }
  return [...groups].map(([folders, members]) => {
    const key = groupKey(members.map(({ piece }) => piece.own));
    const what = folders === '' ? count(members.length, 'task') : folders;
    return { key, branch: branchOf(batch, key), title: titleOf(batch, what), isGroup: true, members };
  });
}

function singleUnit(one: CheckedPiece, batch: string | undefined): Unit {
  const { own: key, id, story } = one.piece;
  const [line = ''] = story.prompt.trimStart().split('\n', 1);
  const title = titleOf(batch, one.rules.redactor.text(batch === undefined ? line : id));
  return { key, branch: branchOf(batch, key), title, isGroup: false, members: [one] };
}

/** The top folders of paths; `.` for files that are in none. */
function foldersOf(paths: readonly string[]): string[] {
  const folders = paths.map((path) => (path.includes('/') ? (path.split('/')[0] ?? '') : '.'));
  return [...new Set(folders)].toSorted();
}
