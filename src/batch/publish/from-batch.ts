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
import type { JournalLine, TaskResult } from '../journal/event.js';
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
  const pieces: Piece[] = [];
  const skipped: Skipped[] = [];
  for (const result of results) {
    const reason = reasonToSkip(result, record, isMeant);
    if (reason === undefined)
      pieces.push({ ...pieceOf(result, lines, folder), own: ownKey(result, results) });
    else skipped.push({ id: result.id, key: result.key, reason });
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
function ownKey({ id, key }: TaskResult, results: readonly TaskResult[]): string {
  const isShared = results.some((other) => other.key === key && other.id !== id);
  return isShared ? sha256(`${key}\n${id}`) : key;
}

function pieceOf(
  { id, key, patch, transcript }: TaskResult,
  lines: readonly JournalLine[],
  folder: string,
): Omit<Piece, 'own'> {
  const end = lines.findLast((line) => line.type === 'task_end' && line.id === id && line.patch === patch);
  const seal = end?.type === 'task_end' ? end.seal : undefined;
  const path = join(folder, patch ?? '');
  // A link could show us any file of this machine.
  if (!isInside(realPath(folder), realPath(path))) throw unusable(`${folder}: ${patch} is not in the folder`);
  return {
    ...{ id, key, bytes: statSync(path).size },
    read: () => {
      const bytes = readPatch(path);
      if (seal?.patch !== undefined && sha256(bytes) !== seal.patch)
        throw unusable(`${folder}: ${patch} was changed`);
      return bytes;
    },
    story: storyOf(readTranscript(join(folder, transcript ?? ''))),
  };
}
