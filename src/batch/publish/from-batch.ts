import { statSync } from 'node:fs';
import { join } from 'node:path';
import { plainReason } from '../../lib/errors.js';
import { sha256 } from '../../lib/ids.js';
import { isInside, realPath } from '../../lib/real-path.js';
import { readRegularFile } from '../../lib/regular-file.js';
import { configProblem, Problem } from '../../protocol/problem.js';
import { readTranscript } from '../../transcript/reader.js';
import { FolderPaths, mustReadRecord, repeatIn, type BatchRecord } from '../folder.js';
import { foldJournal } from '../history.js';
import type { JournalLine, Seal, TaskResult } from '../journal/event.js';
import { readSoundJournal } from '../journal/reader.js';
import { resultsOf } from '../results.js';
import { verifyBatch } from '../verify.js';
import type { Piece, Publication, Skipped } from './publication.js';
import { storyOf } from './story.js';

/** What the folder of a batch has to publish. Throws unless `bosun verify` accepts the folder. */
export async function batchPublication(
  folder: string,
  isMeant: (url: string) => boolean,
): Promise<Publication> {
  const { valid, unreadable, message } = await verifyBatch(folder);
  if (!valid) throw unusable(message, unreadable);
  const record = mustReadRecord(folder);
  const { lines } = readSoundJournal(new FolderPaths(folder).journal);
  const results = resultsOf(record.tasks, foldJournal(lines), repeatIn(record));
  const seals = sealsIn(lines);
  const own = ownKeys(results);
  const pieces: Piece[] = [];
  const skipped: Skipped[] = [];
  for (const [at, result] of results.entries()) {
    const { id, key, patch } = result;
    const reason = reasonToSkip(result, record, isMeant);
    if (reason !== undefined) skipped.push({ id, key, reason });
    else
      pieces.push({
        ...{ id, key },
        own: own[at] ?? key,
        ...filesOf(result, seals.get(patch ?? ''), folder),
      });
  }
  const { workspace_path: workspace, base } = record.settings;
  return {
    ...{ batch: record.name, folder, pieces, skipped },
    workspace: typeof workspace === 'string' ? workspace : '/',
    base: typeof base === 'string' ? base : undefined,
  };
}

export function readPatch(path: string): Buffer {
  try {
    return readRegularFile(path).bytes;
  } catch (error) {
    throw configProblem('publish', `the patch ${path} cannot be read: ${plainReason(error)}`);
  }
}

export function unusable(message: string, isUnreadable = false): Problem {
  if (isUnreadable) return configProblem('publish', message);
  return new Problem('unverified', 'publish', message, { hint: 'Nothing was published.' });
}

function reasonToSkip(
  { status, reason, patch, values }: TaskResult,
  { settings }: BatchRecord,
  isMeant: (url: string) => boolean,
): string | undefined {
  if (status !== 'completed') return `it is ${status}${reason && reason !== status ? ` (${reason})` : ''}`;
  if (patch === null) return 'it has changed nothing';
  const source = settings['source'] as { readonly type?: unknown } | undefined;
  const { url = '' } = values;
  if (source?.type !== 'repositories' || (typeof url === 'string' && isMeant(url))) return undefined;
  return 'its patch is for another repository';
}

/** Tasks with the same prompt and values have the same key. */
function ownKeys(results: readonly TaskResult[]): string[] {
  const counts = new Map<string, number>();
  for (const { key } of results) counts.set(key, (counts.get(key) ?? 0) + 1);
  return results.map(({ id, key }) => ((counts.get(key) ?? 0) > 1 ? sha256(`${key}\n${id}`) : key));
}

/** What the journal says of each patch, by its path. */
function sealsIn(lines: readonly JournalLine[]): Map<string, Seal> {
  const ends = lines.flatMap((line) => (line.type === 'task_end' ? line : []));
  return new Map(ends.flatMap(({ patch, seal }) => (patch !== null && seal ? [[patch, seal] as const] : [])));
}

function filesOf(
  { patch, transcript }: TaskResult,
  seal: Seal | undefined,
  folder: string,
): Pick<Piece, 'bytes' | 'read' | 'story'> {
  const path = join(folder, patch ?? '');
  // A link could show us any file of this machine.
  if (!isInside(realPath(folder), realPath(path))) throw unusable(`${folder}: ${patch} is not in the folder`);
  return {
    bytes: statSync(path).size,
    read: () => {
      const bytes = readPatch(path);
      if (seal?.patch !== undefined && sha256(bytes) !== seal.patch)
        throw unusable(`${folder}: ${patch} was changed`);
      return bytes;
    },
    story: storyOf(readTranscript(join(folder, transcript ?? ''))),
  };
}
