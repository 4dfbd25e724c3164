import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../lib/ids.js';
import type { BatchEvent, FileState, JournalLine } from '../journal/event.js';

/** A patch, and the commit that it is applied to. */
export interface OwnPatch {
  readonly task: string;
  readonly sha256: string;
  readonly head: string;
}

/** What the journal says of a patch. */
interface Note extends OwnPatch {
  readonly code: 'applying' | 'applied';
  readonly files: readonly FileState[];
}

export function patchNotes(lines: readonly JournalLine[]): Note[] {
  return lines.flatMap((line) => {
    if (line.type !== 'batch_notice' || (line.code !== 'applying' && line.code !== 'applied')) return [];
    const { code, task, sha256: hash, head, files = [] } = line;
    return task !== undefined && hash !== undefined && head !== undefined
      ? [{ code, task, sha256: hash, head, files }]
      : [];
  });
}

export function applyingNotice(patch: OwnPatch, files: readonly FileState[]): BatchEvent {
  return {
    type: 'batch_notice',
    level: 'info',
    code: 'applying',
    message: 'applying its patch',
    ...patch,
    files,
  };
}

export function appliedNotice(patch: OwnPatch): BatchEvent {
  return { type: 'batch_notice', level: 'info', code: 'applied', message: 'its patch was applied', ...patch };
}

export function leftNotice(patch: OwnPatch, why: string): BatchEvent {
  const message = `its patch was applied earlier, and is left out now: ${why}`;
  return { type: 'batch_notice', level: 'warning', code: 'not_applied', message, ...patch };
}

/** The files of a patch, as it was applied last. */
export function filesAfter(patch: OwnPatch, notes: readonly Note[]): readonly FileState[] {
  const begun = notes.findLast((note) => note.code === 'applying' && isSamePatch(patch)(note));
  return begun?.files ?? [];
}

/** The commit does not count: a patch is applied again after another one. */
export const isSamePatch = (a: OwnPatch) => (b: OwnPatch) => a.task === b.task && a.sha256 === b.sha256;

/** Every state that patches of this batch have ever given to files. */
export function writtenStates(lines: readonly JournalLine[]): Map<string, Set<string>> {
  const written = new Map<string, Set<string>>();
  for (const { path, state } of patchNotes(lines).flatMap(({ files }) => files))
    written.set(path, (written.get(path) ?? new Set()).add(state));
  return written;
}

/** The file of a patch in the journal. */
export function fileOf(patch: OwnPatch, lines: readonly JournalLine[], folder: string): string | undefined {
  const ends = lines.flatMap((line) =>
    line.type === 'task_end' && line.id === patch.task && line.patch !== null ? [line.patch] : [],
  );
  return ends
    .map((path) => join(folder, path))
    .find((path) => existsSync(path) && sha256(readFileSync(path)) === patch.sha256);
}
