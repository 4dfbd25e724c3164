import { utf8Of } from '../../lib/encoding.js';
import type { RawEntry } from './paths.js';

/** A changed path, with what describes the change. */
export interface GitChange {
  /** From the top, with `/`. */
  readonly path: string;
  /** Where it was, if it was renamed. */
  readonly from?: string;
  /** The mode that it had. */
  readonly was: string;
  readonly kind: 'added' | 'modified' | 'deleted' | 'renamed' | 'mode';
  /** Lines; absent if it is not text. */
  readonly added?: number;
  readonly removed?: number;
}

/** What `diff-tree` prints for these. */
export const LISTED = ['-r', '--raw', '--numstat', '-z', '--no-abbrev'];

type Kinded = Pick<GitChange, 'path' | 'from' | 'kind' | 'was'>;

/** What `diff-tree` prints for `LISTED`. */
export interface ListedChanges {
  readonly changes: readonly GitChange[];
  /** The same as if no renames were looked for: a renamed file is gone in one place and new in another. */
  readonly raw: readonly RawEntry[];
}

/** Reads it: first the change of each path, then the lines of each. */
export function listedChanges(output: string): ListedChanges {
  const fields = output.split('\0').slice(0, -1);
  const kinds: Kinded[] = [];
  const raw: RawEntry[] = [];
  const lines: Pick<GitChange, 'added' | 'removed'>[] = [];
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i] ?? '';
    if (field.startsWith(':')) {
      const kinded = kindedBy(field, fields[i + 1], fields[i + 2]);
      kinds.push(kinded);
      raw.push(...withoutRename(field, fields[i + 1], fields[i + 2]));
      i += kinded.from === undefined ? 1 : 2;
      continue;
    }
    const [added = '-', removed = '-', path] = field.split('\t');
    // Both names of a renamed file follow.
    if (path === '') i += 2;
    lines.push(added === '-' ? {} : { added: Number(added), removed: Number(removed) });
  }
  raw.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { changes: kinds.map((kinded, i) => ({ ...kinded, ...lines[i] })), raw };
}

function withoutRename(field: string, name = '', renamed = ''): RawEntry[] {
  const [was = '', mode = '', , object = '', status = ''] = field.slice(1).split(' ');
  if (!status.startsWith('R')) return [{ path: name, was, mode, object, status }];
  const nothing = '0'.repeat(object.length);
  return [
    { path: name, was, mode: NO_MODE, object: nothing, status: 'D' },
    { path: renamed, was: NO_MODE, mode, object, status: 'A' },
  ];
}

const NO_MODE = '000000';

/** The change of a path, by the fields after it: its name, and the new one if it was renamed. */
function kindedBy(field: string, name = '', renamed = ''): Kinded {
  const [was = '', mode = '', from = '', to = '', status = ''] = field.slice(1).split(' ');
  if (status.startsWith('R')) return { path: utf8Of(renamed), from: utf8Of(name), was, kind: 'renamed' };
  const kind = from === to && was !== mode ? 'mode' : (KINDS[status.charAt(0)] ?? 'modified');
  return { path: utf8Of(name), was, kind };
}

const KINDS: Readonly<Record<string, GitChange['kind']>> = { A: 'added', D: 'deleted' };
